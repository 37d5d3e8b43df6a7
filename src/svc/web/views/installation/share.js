// Shows the dialog for choosing the channel for content shared from another app or for a forwarded message.
// The content is added to that channel's draft.

/** @import { Message } from "../../types/api.js" */

import { hasPermission, textChannels } from "../../state/channels.js";
import { foldCase } from "../../state/name_search.js";
import { notify } from "../../state/notices.js";
import { shared } from "../../state/shared_content.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Markdown } from "../message_text.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { moveAmong } from "../parts/menu.js";
import { draftOf, write } from "../../state/drafts.js";
import { escaped, shortened } from "../../state/mention_text.js";
import { addressOf, open } from "../../state/navigation.js";
import { nameNow } from "../../state/people.js";
import { uploadsOf } from "../../state/uploads.js";

const MANY = 8; // A search field is shown if there are more channels than this.

/** @param {{onClose: () => void}} props */
export function Share({ onClose }) {
  const [wanted, setWanted] = useState("");
  // Ask first, because any site can open this dialog with its own text and files.
  const [trusted, setTrusted] = useState(shared.value?.from === undefined);
  const all = textChannels.value.filter(({ id }) => hasPermission("send_messages", id));
  const matches = all.filter(({ name }) => foldCase(name).includes(foldCase(wanted)));
  const close = () => {
    shared.value = null;
    onClose();
  };
  const choose = (/** @type {string} */ id) => {
    onClose();
    if (!shareInto(id)) notify(t("too-many-files"));
  };
  if (!trusted)
    return html`<${Dialog} title=${t("share-title")} onClose=${close} class="sharing">
      <p>
        ${shared.value?.from ? t("share-from-site", { host: shared.value.from }) : t("share-from-outside")}
      </p>
      <${Button} look="primary" onClick=${() => setTrusted(true)}>${t("show")}<//>
    <//>`;
  const move = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) =>
    moveAmong(event, [...event.currentTarget.querySelectorAll("button")]);
  return html`<${Dialog} title=${t("share-title")} onClose=${close} class="sharing">
    <${What} />
    ${
      all.length > MANY &&
      html`<${Field}
        label=${t("share-find")}
        value=${wanted}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setWanted(event.currentTarget.value)}
      />`
    }
    ${
      matches.length === 0 &&
      html`<p class="quiet">${all.length ? t("nothing-found") : t("share-nowhere")}</p>`
    }
    <ul onKeyDown=${move}>
      ${matches.map(
        ({ id, name }) =>
          html`<li key=${id}>
            <button type="button" class="channel" onClick=${() => choose(id)}>
              <${Icon} name="hash" />
              <span class="channel-name" dir="auto">${name}</span>
            </button>
          </li>`,
      )}
    </ul>
  <//>`;
}

/** The shared text and file names, for the member to check before sending. */
function What() {
  const { text, files } = shared.value ?? { text: "", files: [] };
  return html`<div class="what-is-shared">
    ${text && html`<blockquote dir="auto"><${Markdown} text=${text} /></blockquote>`}
    ${
      files.length > 0 &&
      html`<ul aria-label=${t("files")}>
        ${files.map(
          ({ name }) =>
            html`<li key=${name} class="one-line" dir="auto"><${Icon} name="file" /> ${name}</li>`,
        )}
      </ul>`
    }
  </div>`;
}

/** Add the content to this channel's draft. Return whether there was room for all files. @param {string}
 * channelId */
export function shareInto(channelId) {
  const { text, files } = shared.value ?? { text: "", files: [] };
  const before = draftOf(channelId).text.value;
  open(channelId);
  if (text) write(channelId, before ? `${before}\n${text}` : text);
  shared.value = null;
  return !files.length || uploadsOf(channelId).add(files);
}

/**
 * Ask for a channel, and quote the message there with a link to it. The quote mentions nobody.
 * @param {Message} message
 */
export function forward({ author, text, channel_id: channelId, id }) {
  /** @type {Map<string, string>} */
  const names = new Map();
  const short = shortened(text, names);
  // Escape names. Otherwise, the field would convert them back to mentions.
  const plain = [...names.keys()].reduce((now, name) => now.replaceAll(name, `\\${name}`), short);
  const lines = [`**${escaped(nameNow(author))}**`, ...plain.split("\n").filter((line, at) => at || line)];
  shared.value = {
    text: `${lines.map((line) => `> ${line}`).join("\n")}\n${addressOf(channelId, id)}`,
    files: [],
  };
}
