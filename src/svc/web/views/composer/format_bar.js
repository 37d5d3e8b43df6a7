// Shows buttons for bold, italic and other formats above the field while text is selected. They are for
// members who do not know Markdown or have no keyboard shortcuts.

/** @import { RefObject } from "../../vendor/preact.js" */

import { FORMATS } from "../../state/markdown_formatting.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";

/** The label of each button, shown in its own format. @type {Record<string, unknown>} */
const LOOKS = {
  "format-bold": html`<b>B</b>`,
  "format-italic": html`<i>I</i>`,
  "format-underline": html`<u>U</u>`,
  "format-code": html`<${Icon} name="code" />`,
  "format-strike": html`<s>S</s>`,
  "format-spoiler": html`<${Icon} name="hidden" />`,
};

/**
 * `onFormat` receives the marker to add around the selection in `field`.
 * @param {{field: RefObject<HTMLTextAreaElement>, onFormat: (sign: string) => void}} props
 */
export function FormatBar({ field, onFormat }) {
  const [shown, setShown] = useState(false);
  const look = () => {
    const { current } = field;
    setShown(document.activeElement === current && current.selectionStart !== current.selectionEnd);
  };
  useEffect(look); // No event reports a selection that was made by a script or before mounting.
  useEffect(() => {
    document.addEventListener("selectionchange", look);
    return () => document.removeEventListener("selectionchange", look);
  }, []);
  if (!shown) return null;
  // A click must not change the focus or the selection.
  return html`<div
    class="format-bar"
    role="toolbar"
    aria-label=${t("formatting")}
    onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
  >
    ${FORMATS.map(
      ({ sign, words }) =>
        html`<button
          key=${sign}
          type="button"
          class="icon-button"
          tabindex="-1"
          aria-label=${t(words)}
          title=${t(words)}
          onClick=${() => onFormat(sign)}
        >
          ${LOOKS[words]}
        </button>`,
    )}
  </div>`;
}
