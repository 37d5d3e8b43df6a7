// A dialog over the page: the browser's own, so that the keyboard stays within it and Escape closes it.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { notices } from "../../state/notices.js";
import { addLayer, dialog } from "../../state/place.js";
import { html, useLayoutEffect, useId, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "./button.js";
import { giveFocusBack } from "./focus.js";

let openCount = 0;

/**
 * What a modal `<dialog>` takes to be open while it is drawn, and to tell once that it wants to be closed.
 * @param {() => void} onClose
 */
export function useModal(onClose) {
  /** @type {RefObject<HTMLDialogElement>} */
  const ref = useRef(null);
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const [shown, before] = [ref.current, document.activeElement];
    shown.showModal();
    // One that is not in `dialog`, such as a question that a page of the settings asks.
    const known = dialog.peek() ? 1 + Number(Boolean(dialog.peek()?.under)) : 0;
    const leave = ++openCount > known ? addLayer(() => close.current()) : () => {};
    // What was said before lies over it too.
    if (notices.value.length) notices.value = [...notices.value];
    return () => {
      // While it is open, nothing else takes the focus.
      shown.close();
      giveFocusBack(before);
      openCount--;
      leave();
    };
  }, []);
  return {
    ref,
    onClose: () => { if (ref.current) onClose(); },
    // Escape: the browser would hide it now and tell us a moment later, in which every shortcut is lost, and the
    // focus that something else has taken since.
    onCancel: (/** @type {Event} */ event) => {
      if (event.target !== ref.current) return;
      event.preventDefault();
      onClose();
    },
  };
}

/**
 * `onClose` is called however it is closed. `wide` for pages of settings.
 * @param {{title: string, onClose: () => void, children: ComponentChildren, wide?: boolean, class?: string}} props
 */
export function Dialog({ title, onClose, children, wide = false, class: look = "" }) {
  const modal = useModal(onClose);
  const id = useId();
  const pressed = (/** @type {Event} */ event) => { if (event.target === modal.ref.current) onClose(); };
  return html`<dialog ...${modal} class=${`dialog ${wide ? "wide" : ""} ${look}`} aria-labelledby=${id} onMouseDown=${pressed}>
    <div class="dialog-body">
      <header><h2 id=${id} dir="auto">${title}</h2><${IconButton} icon="close" label=${t("close")} onClick=${onClose} /></header>
      ${children}
    </div>
  </dialog>`;
}

/**
 * A question before something that cannot be taken back. The dialog waits for what `onConfirm` promises.
 * @param {{title: string, text: string, action: string, onConfirm: () => unknown, onClose: () => void, children?: ComponentChildren}} props
 */
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
