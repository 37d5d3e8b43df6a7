// Decides whether a list of messages stays scrolled to the newest message, from measurements of its box. The
// view applies the result.

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
  // The last position that we scrolled the list to, and the list's size at that time.
  #top = 0;
  #height = 0;
  #width = 0;

  /**
   * Stop staying at the end if the reader has scrolled up. The scroll event arrives a frame later, and
   * rendering before it must not override the reader's position.
   * @param {Box} box
   */
  note(box) {
    // The width has changed, so the text has wrapped differently and the browser has moved the list.
    if (box.clientWidth !== this.#width) return;
    // When the box grows, for example because the composer shrinks, the browser scrolls it to its former end.
    const put = Math.min(this.#top, this.#height - box.clientHeight);
    if (box.scrollTop < put - AT_END_PX && !isAtEnd(box)) this.isFollowing = false;
  }

  /**
   * Handle a scroll event. If the content grew before the event, stay at the end. `isPartial` means that
   * newer messages are not loaded yet. Do not stay at the end of a partial list.
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

  /** Keep the newest message in view from now on, regardless of the scroll position. */
  follow() {
    this.isFollowing = true;
    this.#top = 0;
  }
}
