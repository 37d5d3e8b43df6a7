// A dialog over the page: the browser's own, so that the keyboard stays within it and Escape closes it.

import { html, useLayoutEffect, useId, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "./button.js";

/** `onClose` is called however it is closed. `wide` for pages of settings. */
export function Dialog({ title, onClose, children, wide = false, class: look = "" }) {
  const box = useRef(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => { if (before?.isConnected) before.focus(); };
  }, []);
  const pressed = (event) => { if (event.target === box.current) onClose(); };
  return html`<dialog ref=${box} class=${`dialog ${wide ? "wide" : ""} ${look}`} aria-labelledby=${id} onClose=${onClose} onMouseDown=${pressed}>
    <div class="dialog-body">
      <header><h2 id=${id}>${title}</h2><${IconButton} icon="close" label=${t("close")} onClick=${onClose} /></header>
      ${children}
    </div>
  </dialog>`;
}

/** A question before something that cannot be taken back. `act` may be a promise's maker; the dialog waits for it. */
export function Confirm({ title, text, action, onConfirm, onClose, children }) {
  const act = async () => {
    await onConfirm();
    onClose();
  };
  return html`<${Dialog} title=${title} onClose=${onClose} class="confirm">
    <p dir="auto">${text}</p>
    ${children}
    <footer>
      <${Button} onClick=${onClose}>${t("cancel")}<//>
      <${Button} look="danger" onClick=${act} autofocus>${action}<//>
    </footer>
  <//>`;
}
