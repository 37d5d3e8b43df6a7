// Short notices in a corner.

/** @import { RefObject } from "../../vendor/preact.js" */

import { dismiss, notices } from "../../state/notices.js";
import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "./button.js";

export function Notices() {
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  const shown = notices.value.length > 0;
  useLayoutEffect(() => {
    // Shown again, they appear above a dialog that was opened since.
    if (list.current.matches(":popover-open")) list.current.hidePopover();
    if (shown) list.current.showPopover();
  }, [notices.value]);
  return html`<div class="notices" role="alert" aria-live="assertive" popover="manual" ref=${list}>
    ${notices.value.map(
      ({ id, text, kind }) => html`<div class=${`notice ${kind}`} key=${id}>
        <span dir="auto">${text}</span>
        <${IconButton} icon="close" label=${t("dismiss")} onClick=${() => dismiss(id)} />
      </div>`,
    )}
  </div>`;
}
