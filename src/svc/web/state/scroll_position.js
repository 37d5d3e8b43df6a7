// The scroll position of a list of messages: whether it follows the newest message, and whether the reader
// has left the end. Works on the measurements of a box. The view applies the result.

/** @typedef {{scrollTop: number, scrollHeight: number, clientHeight: number, clientWidth: number}} Box */

const NEAR_PX = 400; // Fetch more messages within this distance of either end.
const AT_END_PX = 24; // The tolerance for being at the end, because nobody scrolls to the exact pixel.

/** @param {Box} box */
const below = ({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight;

/** @param {Box} box */
export const isAtEnd = (box) => below(box) < AT_END_PX;
/** @param {Box} box */
export const isNearStart = (box) => box.scrollTop < NEAR_PX;
/** @param {Box} box */
export const isNearEnd = (box) => below(box) < NEAR_PX;

export class ScrollPosition {
  /** Whether the list stays at its end while messages arrive. */
  isFollowing = true;
  // The last position to which the list was moved, and its size at that time.
  #top = 0;
  #height = 0;
  #width = 0;

  /**
   * Stop following if the reader has scrolled up. The scroll event arrives a frame later, and rendering
   * before it must not override the reader's position.
   * @param {Box} box
   */
  note(box) {
    // At a different width, text wraps differently, so the browser has moved the list.
    if (box.clientWidth !== this.#width) return;
    // A box that grows, for example because the composer shrinks, scrolls to the former end.
    const put = Math.min(this.#top, this.#height - box.clientHeight);
    if (box.scrollTop < put - AT_END_PX && !isAtEnd(box)) this.isFollowing = false;
  }

  /**
   * Handle a scroll event. If the content grew before the event, keep following. `isPartial` means that there
   * are newer messages that are not loaded. At the end of a partial list, do not follow.
   * @param {Box} box
   * @param {boolean} isPartial
   */
  scrolled(box, isPartial) {
    this.note(box);
    this.isFollowing = (this.isFollowing || isAtEnd(box)) && !isPartial;
    if (isAtEnd(box)) this.put(box);
  }

  /** Record that the list is at its end. @param {Box} box */
  put({ scrollTop, scrollHeight, clientWidth }) {
    [this.#top, this.#height, this.#width] = [scrollTop, scrollHeight, clientWidth];
  }

  /** Follow from now on, regardless of the scroll position. */
  follow() {
    this.isFollowing = true;
    this.#top = 0;
  }
}
