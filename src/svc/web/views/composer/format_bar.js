// Bold, italic and the like as buttons, above the field while something in it is selected: for those who do not
// know the signs or have no keys for them.

/** @import { RefObject } from "../../vendor/preact.js" */

import { FORMATS } from "../../state/formatting.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";

/** What a button shows: the look that it gives. @type {Record<string, unknown>} */
const LOOKS = {
  "format-bold": html`<b>B</b>`,
  "format-italic": html`<i>I</i>`,
  "format-underline": html`<u>U</u>`,
  "format-code": html`<${Icon} name="code" />`,
  "format-strike": html`<s>S</s>`,
  "format-spoiler": html`<${Icon} name="hidden" />`,
};

/** `onFormat` gets the sign to put around what is selected in `field`. @param {{field: RefObject<HTMLTextAreaElement>, onFormat: (sign: string) => void}} props */
export function FormatBar({ field, onFormat }) {
  const [shown, setShown] = useState(false);
  const look = () => {
    const { current } = field;
    setShown(document.activeElement === current && current.selectionStart !== current.selectionEnd);
  };
  useEffect(look); // What is selected by us, or was before this was here, is told by no event.
  useEffect(() => {
    document.addEventListener("selectionchange", look);
    return () => document.removeEventListener("selectionchange", look);
  }, []);
  if (!shown) return null;
  // A press leaves the focus and the selection where they are.
  return html`<div class="format-bar" role="toolbar" aria-label=${t("formatting")} onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}>
    ${FORMATS.map(({ sign, words }) => html`<button key=${sign} type="button" class="icon-button" tabindex="-1" aria-label=${t(words)} title=${t(words)} onClick=${() => onFormat(sign)}>${LOOKS[words]}</button>`)}
  </div>`;
}
