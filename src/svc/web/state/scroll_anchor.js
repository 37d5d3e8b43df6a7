// Decides from measurements whether a message list stays scrolled to the newest message. The view applies the
// result.

/** @typedef {{scrollTop: number, scrollHeight: number, clientHeight: number, clientWidth: number}} Box */

const NEAR_PX = 400; // Within this distance from either end, more messages are fetched.
const AT_END_PX = 24; // Within this distance from the end, the list counts as being at the end.

/** @param {Box} box */
const below = ({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight;

/** @param {Box} box */
export const isAtEnd = (box) => below(box) < AT_END_PX;
/** @param {Box} box */
export const isNearStart = (box) => box.scrollTop < NEAR_PX;
/** @param {Box} box */
export const isNearEnd = (box) => below(box) < NEAR_PX;

export class ScrollAnchor {
  /** Whether the list stays at its end while messages arrive. */
  isFollowing = true;
  // The last position that we scrolled the list to, and the list's size at that time.
  #top = 0;
  #height = 0;
  #width = 0;

  /**
   * Stop following the end if the member has scrolled up. Call this before rendering, because the scroll
   * event arrives a frame later, and rendering must not override the member's position.
   * @param {Box} box
   */
  note(box) {
    // If the width has changed, the text has rewrapped, so the list has moved without being scrolled.
    if (box.clientWidth !== this.#width) return;
    // When the box grows, for example because the composer shrinks, the maximum scroll position decreases.
    const put = Math.min(this.#top, this.#height - box.clientHeight);
    if (box.scrollTop < put - AT_END_PX && !isAtEnd(box)) this.isFollowing = false;
  }

  /**
   * Handle a scroll event. If the content has grown since the scroll, keep following the end. `isPartial`
   * means that newer messages are not loaded. Do not follow the end of a partial list.
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
