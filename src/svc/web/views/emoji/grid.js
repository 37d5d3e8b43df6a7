// Renders the emoji picker's grid. Only rows in view are in the document. Tab moves the focus to one emoji,
// and the arrow keys move it from there.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { inTone } from "./emoji_catalogue.js";
import { firstFrom, laidOut, moved } from "./rows.js";

/** @typedef {import("./emoji_catalogue.js").Item} Item */
/** @typedef {import("./rows.js").Section} Section */

const CELL_REM = 2.75; // The same as in emoji.css.
const MARGIN = 3; // The number of rows rendered beyond the visible ones.
const DEFAULTS = { cell: 44, columns: 8, height: 320 };

/**
 * A new `goTo` object scrolls to a section, and a new `entered` object moves the focus to the grid.
 * @param {{sections: Section[], tone: number, goTo: {section: string} | null, entered: object | null,
 *   onChoose: (item: Item) => void, onMeet: (item: Item | null) => void, onLeave: () => void}} properties
 */
export function Grid({ sections, tone, goTo, entered, onChoose, onMeet, onLeave }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const size = useSize(box);
  const rows = useMemo(() => laidOut(sections, size.columns), [sections, size.columns]);
  const [top, setTop] = useState(0);
  const [position, setPosition] = useState(() => firstFrom(rows));
  const wanted = useRef(false); // Whether to focus `position` once it has been rendered.
  const current = rows[position.row]?.items[position.column] ? position : firstFrom(rows);

  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = 0;
    setPosition(firstFrom(rows));
  }, [sections]);
  useLayoutEffect(() => {
    const row = goTo ? rows.findIndex(({ head }) => head?.id === goTo.section) : -1;
    if (row < 0 || !box.current) return;
    box.current.scrollTop = row * size.cell;
    setPosition(firstFrom(rows, row));
  }, [goTo]);
  useEffect(() => {
    if (entered) box.current?.querySelector('[tabindex="0"]')?.focus();
  }, [entered]);
  useLayoutEffect(() => {
    if (!wanted.current || !box.current) return;
    wanted.current = false;
    reveal(box.current, current.row, size.cell);
    box.current.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  });

  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const key = isRightToLeft(box.current) ? mirrored(event.key) : event.key;
    const next = moved(rows, current, key);
    if (next) {
      wanted.current = true;
      setPosition({ ...next });
    } else if (key === "ArrowUp") onLeave();
    else return;
    event.preventDefault();
  };
  const first = Math.floor(top / size.cell) - MARGIN;
  const last = Math.ceil((top + size.height) / size.cell) + MARGIN;
  const drawn = rows
    .map((row, index) => ({ row, index }))
    .filter(({ index }) => (index >= first && index <= last) || index === current.row);
  return html`<div
    class="emoji-grid"
    ref=${box}
    onScroll=${() => setTop(box.current?.scrollTop ?? 0)}
    onKeyDown=${pressed}
    onMouseLeave=${() => onMeet(null)}
  >
    <div
      role="grid"
      aria-label=${t("emoji-picker")}
      aria-rowcount=${rows.length}
      style=${{ blockSize: `${rows.length * size.cell}px` }}
    >
      ${drawn.map(
        ({ row, index }) => html`<div
          role="row"
          key=${index}
          aria-rowindex=${index + 1}
          style=${{ insetBlockStart: `${index * size.cell}px` }}
        >
          ${row.head && html`<span role="rowheader" class="emoji-head" dir="auto">${row.head.label}</span>`}
          ${row.items.map(
            (item, column) => html`<span role="gridcell" key=${item.sign}>
              <button
                type="button"
                tabindex=${index === current.row && column === current.column ? 0 : -1}
                aria-label=${item.label}
                onClick=${() => onChoose(item)}
                onMouseEnter=${() => onMeet(item)}
                onFocus=${() => {
                  onMeet(item);
                  setPosition({ row: index, column });
                }}
              >
                ${
                  item.url
                    ? html`<img src=${item.url} alt="" loading="lazy" draggable=${false} />`
                    : inTone(item, tone)
                }
              </button>
            </span>`,
          )}
        </div>`,
      )}
    </div>
  </div>`;
}

/** Return the number of columns and the height of a row. @param {{current: HTMLElement | null}} box */
function useSize(box) {
  const [size, setSize] = useState(DEFAULTS);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = () => {
      const cell = CELL_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);
      setSize({
        cell,
        columns: Math.max(1, Math.floor(element.clientWidth / cell)),
        height: element.clientHeight,
      });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return size;
}

/** @param {HTMLElement} box @param {number} row @param {number} cell */
function reveal(box, row, cell) {
  const start = row * cell;
  // Include the heading above the row, if any.
  if (start - cell < box.scrollTop) box.scrollTop = start - cell;
  else if (start + cell > box.scrollTop + box.clientHeight) box.scrollTop = start + cell - box.clientHeight;
}

/** @param {HTMLElement | null} element */
const isRightToLeft = (element) =>
  Boolean(element) && getComputedStyle(/** @type {HTMLElement} */ (element)).direction === "rtl";

/** @param {string} key */
const mirrored = (key) => ({ ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" })[key] ?? key;
