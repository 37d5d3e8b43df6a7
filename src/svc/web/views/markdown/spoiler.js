// Words hidden until clicked. Hidden words keep their space, and neither screen readers nor a search in the
// page find them.

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/**
 * @param {{words: string, children?: any}} properties `words` are those within, plain, for the room that they
 *   take.
 */
export function Spoiler({ words, children }) {
  const [open, setOpen] = useState(false);
  const shown = useRef(/** @type {HTMLElement | null} */ (null));
  // The focused button is gone.
  useEffect(() => {
    if (open) shown.current?.focus();
  }, [open]);
  if (open) return html`<span class="spoiler open" tabindex="-1" ref=${shown}>${children}</span>`;
  return html`<button
    type="button"
    class="spoiler"
    aria-expanded="false"
    aria-label=${t("markdown-spoiler")}
    onClick=${() => setOpen(true)}
  >
    <span class="hidden-words" aria-hidden="true">${words}</span>
  </button>`;
}
