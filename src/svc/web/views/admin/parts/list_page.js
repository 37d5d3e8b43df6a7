// Renders a list in the settings, or a note that it is empty, loading or failed. Also closes an editor when
// its item is deleted elsewhere.

import { notify } from "../../../state/notices.js";
import { html, useEffect, useRef } from "../../../vendor/preact.js";
import { Button } from "../../parts/button.js";
import { Layer } from "../../parts/menu.js";
import { Skeletons } from "../../parts/skeletons.js";
import { t } from "../../../words/words.js";

/**
 * `items` is null while loading. `row` renders one item, which has an `id`. `keys` is a hint about mouse and
 * keyboard actions.
 * @template T
 * @param {{label: string, about?: string, keys?: string, items: T[] | null, problem?: string, empty?: string,
 *   row: (item: T, index: number) => unknown, again?: () => void, children?: unknown,
 *   more?: (() => unknown) | 0 | "" | null}} props
 */
export function ListPage({ label, about, keys, items, problem, empty, row, again, children, more }) {
  return html`
    ${about && html`<p class="quiet">${about} <span class="key-hint">${keys}</span></p>`}
    ${children}
    ${
      problem &&
      html`<p class="error" role="alert">
        ${problem} ${again && html`<${Button} look="link" onClick=${again}>${t("try-again")}<//>`}
      </p>`
    }
    ${items === null && !problem && html`<${Skeletons} rows=${3} />`}
    ${items?.length === 0 && html`<p class="quiet nothing">${empty}</p>`}
    ${items && items.length > 0 && html`<ul class="managed" aria-label=${label}>${items.map(row)}</ul>`}
    ${more && html`<p><${Button} onClick=${more}>${t("show-more")}<//></p>`}
  `;
}

/**
 * One row: an icon, two lines of text, and actions at the end.
 * @param {{sign?: unknown, title: unknown, text?: unknown, children?: unknown, [attribute: string]: unknown}}
 *   props
 */
export function Row({ sign, title, text, children, ...rest }) {
  return html`<li class="managed-row" ...${rest}>
    ${sign}
    <span class="managed-words">
      <span dir="auto">${title}</span>
      ${text && html`<small class="quiet" dir="auto">${text}</small>`}
    </span>
    <span class="managed-acts">${children}</span>
  </li>`;
}

/**
 * Notify the user and close the editor when the edited item is deleted. `present` becomes falsy then. `words`
 * returns the notice for the item's last `name`.
 * @param {unknown} present @param {string | null | undefined} name @param {(name: string) => string} words
 *   @param {() => void} close
 */
export function useGone(present, name, words, close) {
  const last = useRef(name);
  if (present) last.current = name;
  useEffect(() => {
    if (present) return;
    notify(words(last.current ?? ""), "done");
    close();
  }, [Boolean(present)]);
}

/**
 * A button that takes the user from an editor back to its list. On a phone, the system's Back gesture does
 * the same.
 * @param {{onBack: () => void, children?: unknown}} props
 */
export const BackToList = ({ onBack, children }) =>
  html`<p><${Layer} onClose=${onBack} /><${Button} icon="back" onClick=${onBack}>${children}<//></p>`;
