// Renders only the visible rows of a long list with known row heights. Empty space replaces the other rows,
// so a thousand rows cost no more than forty.

/** @import { RefObject } from "../../vendor/preact.js" */

import { useLayoutEffect, useRef, useState } from "../../vendor/preact.js";

const BEYOND_PX = 400; // The height rendered beyond the visible area, for fast scrolling.

/**
 * Return the range of rows to render (`from` and `to`), the space before and after them in px (`before` and
 * `after`), the list's ref (`list`), and `show(index)`, which scrolls to a row synchronously. `heights` are
 * the row heights in rem.
 * @param {number[]} heights
 */
export function useWindow(heights) {
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  const [seen, setSeen] = useState({ top: 0, bottom: 800, rem: 16 });
  const around = () => /** @type {HTMLElement} */ (list.current.closest(".aside-body"));
  const tops = [0];
  for (const height of heights) tops.push(tops[tops.length - 1] + height * seen.rem);
  const look = () => {
    const scroller = around();
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const top = scroller.getBoundingClientRect().top - list.current.getBoundingClientRect().top;
    // The position is rounded, so scrolling by a few pixels rarely rerenders the list.
    const next = {
      top: Math.floor(top / 100) * 100,
      bottom: Math.ceil((top + scroller.clientHeight) / 100) * 100,
      rem,
    };
    setSeen((before) =>
      before.top === next.top && before.bottom === next.bottom && before.rem === next.rem ? before : next,
    );
  };
  useLayoutEffect(() => {
    const scroller = around();
    const observer = new ResizeObserver(look);
    observer.observe(scroller);
    scroller.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", look);
    };
  }, []);
  const show = (/** @type {number} */ index) => {
    const scroller = around();
    const covered = scroller.querySelector("header")?.offsetHeight ?? 0;
    const offset =
      list.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
    const [above, below] = [tops[index] + offset - covered, tops[index + 1] + offset];
    if (above < scroller.scrollTop) scroller.scrollTop = above;
    else if (below > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = below - scroller.clientHeight;
    look();
  };
  const from = Math.max(0, tops.findIndex((top) => top > seen.top - BEYOND_PX) - 1);
  const end = tops.findIndex((top) => top >= seen.bottom + BEYOND_PX);
  const to = end < 0 ? heights.length : Math.min(end, heights.length);
  return { from, to, before: tops[from], after: tops[tops.length - 1] - tops[to], list, show };
}
