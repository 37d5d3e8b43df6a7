// Renders inline Markdown as elements: text, links, mentions, emoji and spoilers.

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { mentionText, targetOf, wordsOf } from "./context.js";
import { isVisible, pretends, withoutBidiControls, webAddress } from "./links.js";
import { Time } from "../parts/time.js";
import { t } from "../../words/words.js";

/** @typedef {import("./parse.js").Node} Node */
/** @typedef {import("./context.js").Context} Context */

/** @param {Node[]} nodes @param {Context} context @param {boolean} [inLink] @returns {any[]} */
export function inlines(nodes, context, inLink = false) {
  return nodes.map((node) => inline(node, context, inLink));
}

/** @param {Node} node @param {Context} context @param {boolean} inLink @returns {any} */
function inline(node, context, inLink) {
  const { type, text = "", href = "", children } = node;
  const within = () => inlines(children, context, inLink);
  switch (type) {
    case "text":
      return inLink ? withoutBidiControls(text) : text;
    case "break":
      return html`<br />`;
    case "strong":
      return html`<strong>${within()}</strong>`;
    case "underlined":
      return html`<u>${within()}</u>`;
    case "emphasis":
      return html`<em>${within()}</em>`;
    case "struck":
      return html`<s>${within()}</s>`;
    case "code":
      return html`<code>${text}</code>`;
    case "spoiler":
      return inLink ? within() : html`<${Spoiler} words=${wordsOf(children)}>${within()}</${Spoiler}>`;
    case "link":
      return link(node, context, inLink);
    case "address":
      return locationLink(href, context, inLink) ?? address(href, [withoutBidiControls(text)], inLink);
    case "picture":
      return ["![", text, "](", address(href, [withoutBidiControls(href)], inLink), ")"];
    case "emoji":
      return emoji(text, context);
    case "time":
      return html`<${Time} ms=${node.ms} style=${node.style} />`;
    default:
      // The block is nested too deeply to be rendered as a block.
      return children.length ? within() : text;
  }
}

/** @param {Node} node @param {Context} context @param {boolean} inLink */
function link(node, context, inLink) {
  const { href = "", children } = node;
  const target = targetOf(node, context);
  if (target) return mention(target, context, inLink);
  const url = webAddress(href);
  const label = inlines(children, context, true);
  if (inLink) return label;
  if (url && !isVisible(wordsOf(children)) && !children.some(({ type }) => type === "emoji"))
    return address(href, [withoutBidiControls(href)], false);
  if (url && !pretends(wordsOf(children), url)) return address(href, label, false);
  // The label is misleading, so show the link's Markdown source and make the actual URL the link.
  return ["[", ...label, "](", address(href, [withoutBidiControls(href)], false), ")"];
}

/**
 * Return a link to a message on this server, or null for other links.
 * @param {string} href
 * @param {Context} context
 * @param {boolean} inLink
 */
function locationLink(href, { locationOf }, inLink) {
  const url = inLink || !locationOf ? null : webAddress(href);
  const target = url && locationOf?.(url);
  if (!target) return null;
  const go = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // The browser opens another tab.
    event.preventDefault();
    target.go();
  };
  return html`<a class="mention" href=${url.href} onClick=${go}>${target.words}</a>`;
}

/**
 * Return a link to another site. It sends no referrer.
 * @param {string} href
 * @param {any[]} label
 * @param {boolean} inLink
 */
function address(href, label, inLink) {
  const url = inLink ? null : webAddress(href);
  if (!url) return label;
  return html`<a href=${url.href} title=${url.href} target="_blank" rel="noopener noreferrer">${label}</a>`;
}

/** @param {import("./context.js").Target} target @param {Context} context @param {boolean} inLink */
function mention(target, context, inLink) {
  const { kind, id, own, known, color } = target;
  const words = withoutBidiControls(mentionText(target));
  if (inLink) return words;
  const act = kind === "member" ? context.onMention : kind === "channel" ? context.onChannel : undefined;
  const name = ["mention", own && "own", !known && "unknown", color && "coloured"].filter(Boolean).join(" ");
  const style = color ? { "--role": color } : undefined;
  if (!act || !known) return html`<span class=${name} style=${style}>${words}</span>`;
  return html`<button type="button" class=${name} onClick=${() => act(id)}>${words}</button>`;
}

/** @param {string} name @param {Context} context */
function emoji(name, context) {
  const serverEmoji = context.emoji?.get(name);
  const written = `:${name}:`;
  return serverEmoji
    ? html`<img
        class="emoji"
        src=${serverEmoji.url}
        alt=${written}
        title=${written}
        draggable=${false}
        loading="lazy"
      />`
    : written;
}

/**
 * @param {{words: string, children?: any}} properties `words` is the content as plain text, which reserves
 *   the space while it is hidden.
 */
export function Spoiler({ words, children }) {
  const [open, setOpen] = useState(false);
  const shown = useRef(/** @type {HTMLElement | null} */ (null));
  // The focused button has disappeared, so move the focus to the content.
  useEffect(() => {
    if (open) shown.current?.focus();
  }, [open]);
  if (open) return html`<span class="spoiler open" tabindex="-1" ref=${shown}>${children}</span>`;
  return html`<button
    type="button"
    class="spoiler"
    aria-expanded="false"
    aria-label=${t("markdown-spoiler")}
    onClick=${() => setOpen(true)}
  >
    <span class="hidden-words" aria-hidden="true">${words}</span>
  </button>`;
}
