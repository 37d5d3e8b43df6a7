// Renders the files in a private message. Images are decrypted when they become visible, and other files on
// request.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { PrivateFile, PrivateMessage } from "./message_adapter.js" */

import { privateClient } from "../../state/private_client.js";
import { opened } from "../../state/private_conversations.js";
import { isSpoiler, shownName } from "../../state/uploads.js";
import { html, useEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Attachments, sizeOf } from "../conversation/attachments.js";
import { withoutBidiControls } from "../markdown/links.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

const BY_ITSELF_BYTES = 8 * 2 ** 20; // Larger images are loaded only when clicked.

/** @param {{message: PrivateMessage}} props */
export function SealedFiles({ message }) {
  const files = message.attachments.map((file) => ({ ...file, url: opened.value.get(file.id)?.url ?? "" }));
  const open = files.filter(({ url }) => url);
  const closed = files.filter(({ url }) => !url);
  return html`
    <${Attachments} files=${open} pictures=${open} />
    ${
      closed.length > 0 &&
      html`<div class="media">
        ${closed.map(
          (file) => html`<${Closed} key=${file.id} conversationId=${message.conversation_id} file=${file} />`,
        )}
      </div>`
    }
  `;
}

/** @param {{conversationId: string, file: PrivateFile}} props */
function Closed({ conversationId, file }) {
  /** @type {RefObject<HTMLElement>} */
  const placeholder = useRef(null);
  const { state, problem } = opened.value.get(file.id) ?? {};
  const name = withoutBidiControls(shownName(file.name));
  const open = () => privateClient().then((client) => client.openFile(conversationId, file.encrypted));
  useEffect(() => {
    if (file.kind !== "picture" || file.bytes > BY_ITSELF_BYTES || isSpoiler(file) || state) return undefined;
    const observer = new IntersectionObserver(([{ isIntersecting }]) => {
      if (isIntersecting) open();
    });
    observer.observe(placeholder.current);
    return () => observer.disconnect();
  }, [file.id, state]);
  return html`<p class="file" ref=${placeholder}>
    <${Icon} name="file" />
    ${
      state
        ? html`<span dir="auto">${name}</span>`
        : html`<${Button}
            look="link"
            dir="auto"
            aria-label=${t("private-file-open", { name })}
            onClick=${open}
          >
            ${name}
          <//>`
    } <span class="quiet">
      ${sizeOf(file.bytes)}
    </span>
    ${state === "opening" && html`<span class="quiet" role="status">${t("private-file-opening")}</span>`}
    ${
      state === "failed" &&
      html`
        <span class="error" role="alert">${problem}</span> <${Button} look="link" onClick=${open}>
          ${t("try-again")}
        <//>
      `
    }
  </p>`;
}
