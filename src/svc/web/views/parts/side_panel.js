// The side panel of a channel: a heading, a close button, and its content.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { html, useId, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "./button.js";
import { useFocusBack } from "./focus.js";

/** @param {{title: string, onClose: () => void, children: ComponentChildren}} props */
export function SidePanel({ title, onClose, children }) {
  const id = useId();
  /** @type {RefObject<HTMLElement>} */
  const body = useRef(null);
  useFocusBack(body);
  return html`<section ref=${body} class="aside-body" aria-labelledby=${id}>
    <header>
      <h2 id=${id}>${title}</h2>
      <${IconButton} icon="close" label=${t("close")} onClick=${onClose} />
    </header>
    ${children}
  </section>`;
}
