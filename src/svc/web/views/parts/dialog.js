// Renders modal dialogs with the browser's `<dialog>`, which keeps the focus inside and closes on Escape.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { notices } from "../../state/notices.js";
import { addLayer, dialog } from "../../state/navigation.js";
import { html, useLayoutEffect, useId, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "./button.js";
import { restoreFocus } from "./focus.js";

let openCount = 0;

/**
 * Return the attributes of a modal `<dialog>`, which is open while mounted and calls `onClose` once.
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
    // Add a layer for a dialog that is not in navigation.js's `dialog`, such as a confirmation on a settings
    // page.
    const known = dialog.peek() ? 1 + Number(Boolean(dialog.peek()?.under)) : 0;
    const leave = ++openCount > known ? addLayer(() => close.current()) : () => {};
    // Show existing notices above the dialog too.
    if (notices.value.length) notices.value = [...notices.value];
    return () => {
      // Close the dialog first, because nothing outside can have the focus while it is open.
      shown.close();
      restoreFocus(before);
      openCount--;
      leave();
    };
  }, []);
  return {
    ref,
    onClose: () => {
      if (ref.current) onClose();
    },
    // On Escape, the browser would hide the dialog at once but send the close event later. In between,
    // shortcuts would be ignored, and afterwards, the dialog would move the focus away from the element that
    // has received it.
    onCancel: (/** @type {Event} */ event) => {
      if (event.target !== ref.current) return;
      event.preventDefault();
      onClose();
    },
  };
}

/**
 * A dialog. `onClose` is called however the dialog is closed. `wide` is for settings pages. `menu` is
 * rendered next to the close button.
 * @param {{title: string, onClose: () => void, children: ComponentChildren, wide?: boolean, class?: string,
 *   menu?: ComponentChildren}} props
 */
export function Dialog({ title, onClose, children, wide = false, class: look = "", menu }) {
  const modal = useModal(onClose);
  const id = useId();
  const pressed = (/** @type {Event} */ event) => {
    if (event.target === modal.ref.current) onClose();
  };
  return html`<dialog
    ...${modal}
    class=${`dialog ${wide ? "wide" : ""} ${look}`}
    aria-labelledby=${id}
    onMouseDown=${pressed}
  >
    <div class="dialog-body">
      <header>
        <h2 id=${id} dir="auto">${title}</h2>
        <${IconButton} icon="close" label=${t("close")} onClick=${onClose} />
        ${menu}
      </header>
      ${children}
    </div>
  </dialog>`;
}

/**
 * A confirmation before an irreversible action. The dialog waits for the promise that `onConfirm` returns.
 * @param {{title: string, text: string, action: string, onConfirm: () => unknown, onClose: () => void,
 *   children?: ComponentChildren}} props
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
