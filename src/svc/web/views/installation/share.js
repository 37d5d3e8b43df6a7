// The dialog that asks for a channel for content shared from another application.

import { may, textChannels } from "../../state/channels.js";
import { folded } from "../../state/name_search.js";
import { notify } from "../../state/notices.js";
import { shared } from "../../state/shared_content.js";
import { shareInto } from "../../state/share_to_channel.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Markdown } from "../message_text.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { moveAmong } from "../parts/menu.js";

const MANY = 8; // With more channels than this, show a search field.

/** @param {{onClose: () => void}} props */
export function Share({ onClose }) {
  const [wanted, setWanted] = useState("");
  // Any site can open this dialog with its own text and files.
  const [trusted, setTrusted] = useState(shared.value?.from === undefined);
  const all = textChannels.value.filter(({ id }) => may("send_messages", id));
  const found = all.filter(({ name }) => folded(name).includes(folded(wanted)));
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
      found.length === 0 && html`<p class="quiet">${all.length ? t("nothing-found") : t("share-nowhere")}</p>`
    }
    <ul onKeyDown=${move}>
      ${found.map(
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

/** The shared text and file names, so that members see them before sending. */
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
