// A spoiler file: blurred and inert until clicked, and covered again on each mount.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/** `kind`: the kind of the file. @param {{kind: string, children: ComponentChildren}} props */
export function Covered({ kind, children }) {
  const [open, setOpen] = useState(false);
  /** @type {RefObject<HTMLElement>} */
  const box = useRef(null);
  // The focused button is gone.
  useEffect(() => {
    if (open) box.current.querySelector("a, video, audio")?.focus();
  }, [open]);
  return html`<div class="covered" ref=${box}>
    <div inert=${!open}>${children}</div>
    ${!open && html`<${Cover} kind=${kind} onClick=${() => setOpen(true)} />`}
  </div>`;
}

/** The clickable cover of a spoiler. @param {{kind: string, onClick: () => void}} props */
export function Cover({ kind, onClick }) {
  return html`<button
    type="button"
    class="cover"
    aria-label=${t("spoiler-cover", { kind })}
    onClick=${onClick}
  >
    <span>${t("spoiler")}</span>
  </button>`;
}
