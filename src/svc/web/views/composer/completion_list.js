// Shows a list of completions above the message field after "@", "#", ":", or a "/" at the start.

/**
 * @import { Permission } from "../../types/wire.js"
 * @import { CompletionQuery, Candidate, Sources } from "../../state/completion.js"
 * @import { Names } from "../../state/mention_text.js"
 * @import { RefObject } from "../../vendor/preact.js"
 */

import { channels, hasPermission } from "../../state/channels.js";
import { emoji } from "../../state/emoji.js";
import { complete, loadMembers, members, roleName, roles } from "../../state/people.js";
import { isNamed } from "../../state/mention_text.js";
import { html, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Icon } from "../parts/icon.js";

const SIGNS = /[@#:]|^\//u; // The characters that start a completion.

/**
 * The completion module, loaded when one of these characters is first typed.
 * @type {typeof import("../../state/completion.js") | null}
 */
let deciding = null;
/**
 * Functions from the emoji catalogue, loaded on first use.
 * @type {Pick<Sources, "findEmoji" | "emojiNamed">}
 */
let ofEmoji = {};
let hasEmoji = false; // Whether the entire catalogue has loaded.

/**
 * Complete the name at the caret. If `channelId` is null, complete only members and emoji. `names` are the
 * names already in the field. The returned `onKey` handles a key press and returns whether the list uses that
 * key.
 * @param {RefObject<HTMLTextAreaElement>} field @param {string | null} channelId @param {Names} names @param
 *   {(text: string, caret: number) => void} put
 */
export function useCompletion(field, channelId, names, put) {
  const id = useId();
  const [offer, setOffer] = useState(/** @type {{query: CompletionQuery, at: number} | null} */ (null));
  const [, again] = useState(0);
  const look = () => {
    const { value, selectionStart, selectionEnd } = field.current;
    if (!deciding) {
      if (SIGNS.test(value))
        decide().then(
          () => field.current && look(),
          () => {},
        );
      return;
    }
    if (deciding.hasEmojiWritten(value) && !ofEmoji.findEmoji) findEmojiLater().catch(() => {});
    const query = selectionStart === selectionEnd ? deciding.completing(value, selectionStart) : null;
    if (
      !query ||
      isNamed(value, query.start, query.end, names) ||
      (channelId === null && !"@:".includes(query.sign))
    ) {
      setOffer(null);
      return;
    }
    if (query.sign === "@") loadMembers().catch(() => {});
    if (query.sign === ":" && !ofEmoji.findEmoji)
      findEmojiLater().then(
        () => again((count) => count + 1),
        () => {},
      );
    setOffer({ query, at: 0 });
  };
  const list = offer && deciding ? deciding.candidates(offer.query, sources(channelId)) : [];
  const at = offer && list.length ? Math.min(offer.at, list.length - 1) : 0;
  const choose = (/** @type {Candidate} */ chosen) => {
    if (!deciding || !offer) return;
    const { text, caret } = deciding.complete(field.current.value, offer.query, chosen);
    setOffer(null);
    put(text, caret);
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (!offer || !list.length) return false;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setOffer({ ...offer, at: (at + by + list.length) % list.length });
    else if (event.key === "Enter" || event.key === "Tab") choose(list[at]);
    else if (event.key === "Escape") setOffer(null);
    else return false;
    event.preventDefault();
    return true;
  };
  /**
   * Convert typed names of members to mentions, and emoji names to emoji.
   * @param {string} markdown
   */
  const meant = (markdown) => deciding?.meant(markdown, sources(channelId)) ?? markdown;
  return {
    id,
    list: offer ? list : [],
    at,
    choose,
    look,
    onKey,
    meant,
    missing,
    close: () => setOffer(null),
  };
}

/**
 * Load the data that `meant` needs for the text. Return null if everything is loaded.
 * @param {string} markdown
 * @returns {Promise<unknown> | null}
 */
function missing(markdown) {
  if (!SIGNS.test(markdown)) return null;
  if (!deciding) return decide().then(() => missing(markdown));
  const wanted = [];
  if (deciding.hasEmojiWritten(markdown) && !hasEmoji) wanted.push(findEmojiLater());
  if (deciding.hasNameWritten(markdown) && !complete.value) wanted.push(loadMembers());
  return wanted.length ? Promise.all(wanted) : null;
}

async function decide() {
  deciding = await import("../../state/completion.js");
}

/** @param {string | null} channelId @returns {Sources} */
function sources(channelId) {
  return {
    members: [...members.value.values()].map(({ id, nickname: name }) => ({ id, name })),
    roles:
      channelId === null
        ? []
        : roles.value
            .filter(({ id }) => id !== "member")
            .map((role) => ({ id: role.id, name: roleName(role) })),
    channels: channels.value.filter(({ type }) => type === "text"),
    mayMentionGroups: channelId !== null && hasPermission("mention_everyone", channelId),
    hasPermission: (permission) => hasPermission(/** @type {Permission} */ (permission), channelId),
    ...ofEmoji,
  };
}

async function findEmojiLater() {
  const [{ failed, find, load, signOf }, { remembered }] = await Promise.all([
    import("../emoji/emoji_catalogue.js"),
    import("../emoji/recent_emoji.js"),
  ]);
  ofEmoji = {
    findEmoji: (prefix, limit) => find(prefix, emoji.value, limit, remembered.value.tone),
    emojiNamed: (name) => signOf(name, emoji.value, remembered.value.tone),
  };
  await load();
  hasEmoji = !failed.value;
}

/** @param {{completion: Pick<ReturnType<typeof useCompletion>, "id" | "list" | "at" | "choose">}} props */
export function CompletionList({ completion: { id, list, at, choose } }) {
  const current = list[at];
  /** @type {RefObject<HTMLElement>} */
  const box = useRef(null);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [current?.id]);
  if (!list.length) return null;
  return html`<ul id=${id} ref=${box} class="completion" role="listbox" aria-label=${t("completion")}>
    ${list.map(
      (item, index) => html`<li
        key=${`${item.kind} ${item.id}`}
        id=${index === at ? `${id}-at` : undefined}
        role="option"
        aria-selected=${index === at}
        onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
        onClick=${() => choose(item)}
      >
        <${Sign} candidate=${item} />
        <span dir="auto">${nameOf(item)}</span>
        ${item.kind === "command" && html`<small class="quiet">${t(`command-${item.name}`)}</small>`}
        ${
          (item.kind === "role" || item.kind === "group") &&
          html`<small class="quiet">${t(`completion-${item.kind}`)}</small>`
        }
      </li>`,
    )}
  </ul>`;
}

/** @param {Candidate} candidate */
function nameOf({ kind, name }) {
  if (kind === "command") return `/${name}`;
  return kind === "emoji" ? `:${name}:` : name;
}

/** @param {{candidate: Candidate}} props */
function Sign({ candidate: { kind, id, name, character, url } }) {
  if (kind === "member")
    return html`<${Avatar} id=${id} name=${name} url=${members.value.get(id)?.avatar} size="small" />`;
  if (kind === "emoji")
    return url
      ? html`<img class="emoji" src=${url} alt="" />`
      : html`<span class="emoji">${character}</span>`;
  if (kind === "command") return html`<${Icon} name="send" />`;
  return html`<${Icon} name=${kind === "channel" ? "hash" : "people"} />`;
}
