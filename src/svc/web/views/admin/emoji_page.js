// Uploads, renames and deletes the server's custom emoji. Several emoji can be uploaded together, and each is
// named after its file.

/** @import { Emoji } from "../../types/api.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { emoji } from "../../state/emoji.js";
import { deleteEmoji, emojiNameOf, renameEmoji, sendEmoji } from "../../state/admin/management_requests.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { ListPage } from "./parts/list_page.js";

export function EmojiPage() {
  /** @type {RefObject<HTMLInputElement>} */
  const input = useRef(null);
  const [faults, setFaults] = useState(/** @type {string[]} */ ([]));
  const [ending, setEnding] = useState(/** @type {Emoji | null} */ (null));
  const picked = async (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const files = [...(event.currentTarget.files ?? [])];
    event.currentTarget.value = "";
    /** @type {string[]} */
    const problems = [];
    for (const file of files)
      await sendEmoji(file, emojiNameOf(file.name)).catch((error) =>
        problems.push(`${file.name}: ${explain(error)}`),
      );
    setFaults(problems);
    if (problems.length < files.length) notify(t("emoji-sent"), "done");
  };
  const all = [...emoji.value.values()].sort((a, b) => a.name.localeCompare(b.name));
  return html`
    <${ListPage}
      label=${t("settings-emoji")}
      about=${t("emoji-about")}
      items=${all}
      empty=${t("no-emoji")}
      row=${(/** @type {Emoji} */ entry) =>
        html`<${Own} key=${entry.id} emoji=${entry} onDelete=${() => setEnding(entry)} />`}
    >
      <p><${Button} look="primary" icon="add" onClick=${() => input.current.click()}>${t("emoji-add")}<//></p>
      <input
        type="file"
        accept="image/*,.heic,.heif"
        multiple
        hidden
        ref=${input}
        onChange=${picked}
        aria-label=${t("emoji-add")}
      />
      ${faults.map((problem) => html`<p class="error" role="alert" key=${problem}>${problem}</p>`)}
    <//>
    ${
      ending &&
      html`<${Confirm}
        title=${t("emoji-delete-title", { name: ending.name })}
        text=${t("emoji-delete-text")}
        action=${t("delete")}
        onConfirm=${() => tryOrNotify(deleteEmoji(ending.id))}
        onClose=${() => setEnding(null)}
      />`
    }
  `;
}

/** @param {{emoji: Emoji, onDelete: () => void}} props */
function Own({ emoji: { id, name, url }, onDelete }) {
  const rename = async (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const field = event.currentTarget;
    const wanted = field.value.trim().replaceAll(":", "");
    if (wanted === name || !(await tryOrNotify(renameEmoji(id, wanted)))) field.value = name;
  };
  return html`<li class="managed-row">
    <img src=${url} alt="" width="32" height="32" loading="lazy" />
    <span class="managed-words">
      <input
        value=${name}
        maxlength="30"
        spellcheck=${false}
        aria-label=${t("emoji-name-of", { name })}
        onChange=${rename}
      />
    </span>
    <span class="managed-acts">
      <${IconButton} icon="trash" label=${t("emoji-delete", { name })} onClick=${onDelete} />
    </span>
  </li>`;
}
