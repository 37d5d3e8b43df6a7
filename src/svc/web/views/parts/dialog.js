// Renders modal dialogs with the browser's `<dialog>`, which traps the focus and closes on Escape.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { notices } from "../../state/notices.js";
import { addLayer, dialog } from "../../state/navigation.js";
import { html, useLayoutEffect, useId, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "./button.js";
import { restoreFocus } from "./focus.js";

let openCount = 0;

/**
 * Return the attributes of a modal `<dialog>` that is open while mounted. `onClose` is called when the user
 * closes it.
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
    // Add a layer for dialogs that are not in navigation.js's `dialog`, such as a confirmation on a settings
    // page.
    const known = dialog.peek() ? 1 + Number(Boolean(dialog.peek()?.under)) : 0;
    const leave = ++openCount > known ? addLayer(() => close.current()) : () => {};
    // Move existing notices above the dialog.
    if (notices.value.length) notices.value = [...notices.value];
    return () => {
      // Close the dialog first, because no element outside it can receive the focus while it is open.
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
    // On Escape, the browser would hide the dialog immediately but send the close event later. Until then,
    // shortcuts would be ignored. The event would then move the focus away from the element that has received
    // it.
    onCancel: (/** @type {Event} */ event) => {
      if (event.target !== ref.current) return;
      event.preventDefault();
      onClose();
    },
  };
}

/**
 * A dialog. `onClose` is called whenever the user closes it. `wide` is for settings pages. `menu` is rendered
 * next to the close button.
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
