// Shows an image at full size. Arrow keys and horizontal swipes show the other images, a swipe down closes
// the lightbox, and a link opens the file. A double-tap or double-click enlarges the image, which can then be
// dragged.

/** @import { Attached } from "./attachments.js" */

import { conversationOf } from "../../state/conversation.js";
import { isSpoiler, shownName } from "../../state/uploads.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { moved, WHOLE, zoomed } from "../call/zoom.js";
import { IconButton } from "../parts/button.js";
import { useModal } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Cover } from "./attachments.js";

const MIN_SWIPE_PX = 60; // A shorter movement is not a swipe.
const STILL_PX = 10; // A touch that moves less is a tap.
const DOUBLE_MS = 400; // The maximum time between the taps of a double-tap.
const APART_PX = 40; // The maximum distance between the taps of a double-tap.
const ENLARGED = 2.5;

/**
 * `pictures` are the images to show instead of the channel's images.
 * @param {{fileId: string, onClose: () => void} & ({channelId: string, pictures?: undefined} | {channelId?:
 *   undefined, pictures: Attached[]})} props
 */
export function Lightbox({ channelId, fileId, pictures: given, onClose }) {
  const modal = useModal(onClose);
  const [shown, setShown] = useState(fileId);
  const [uncovered, setUncovered] = useState([fileId]); // The clicked image is already uncovered.
  /** @type {Attached[]} */
  const all = given ?? conversationOf(channelId).messages.value.flatMap(({ attachments }) => attachments);
  const pictures = all.filter(({ kind }) => kind === "picture");
  const at = pictures.findIndex(({ id }) => id === shown);
  const picture = pictures[at];
  const zoom = useZoom();
  const step = (/** @type {number} */ by) => {
    if (!pictures[at + by]) return;
    setShown(pictures[at + by].id);
    zoom.reset();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) step(getComputedStyle(modal.ref.current).direction === "rtl" ? -by : by);
  };
  const swiped = useRef(/** @type {{x: number, y: number} | null} */ (null));
  const touched = (/** @type {TouchEvent} */ { touches: [{ clientX: x, clientY: y }, second] }) => {
    // Two fingers zoom the page, and one finger pans a zoomed page. Neither is a swipe.
    swiped.current = second || visualViewport?.scale !== 1 ? null : { x, y };
  };
  const lifted = (/** @type {TouchEvent} */ event) => {
    const [{ clientX, clientY }] = event.changedTouches;
    if (!swiped.current) return;
    const [x, y] = [clientX - swiped.current.x, clientY - swiped.current.y];
    if (Math.hypot(x, y) < STILL_PX) zoom.tap(event);
    else if (zoom.isEnlarged) return;
    else if (y > Math.max(MIN_SWIPE_PX, Math.abs(x))) onClose();
    else if (Math.abs(x) > Math.max(MIN_SWIPE_PX, Math.abs(y)))
      step(x > 0 === (getComputedStyle(modal.ref.current).direction === "rtl") ? 1 : -1);
  };
  const elsewhere = (/** @type {EventOn} */ event) => {
    if (!event.target.closest("img, button, a")) onClose();
  };
  const covered = picture && isSpoiler(picture) && !uncovered.includes(picture.id);
  const uncover = () => {
    setUncovered([...uncovered, picture.id]);
    modal.ref.current.querySelector(".lightbox-close")?.focus();
  };
  const name = covered
    ? t("spoiler")
    : picture?.alt || (picture && shownName(picture.name)) || t("file-gone");
  return html`<dialog
    ...${modal}
    class="lightbox"
    aria-label=${name}
    onKeyDown=${pressed}
    onTouchStart=${touched}
    onTouchEnd=${lifted}
    onClick=${elsewhere}
  >
    ${
      picture
        ? html`<img
            key=${picture.id}
            ...${zoom.attributes}
            class=${`${covered ? "blurred" : ""} ${zoom.isEnlarged ? "enlarged" : ""}`}
            src=${picture.url}
            alt=${covered ? "" : name}
            width=${picture.width}
            height=${picture.height}
            style=${{ "--ratio": Number(picture.width) / Number(picture.height), ...zoom.style }}
          />`
        : html`<p>${t("file-gone")}</p>`
    }
    ${covered && html`<${Cover} kind="picture" onClick=${uncover} />`}
    <p class="lightbox-line">
      <span class="one-line" dir="auto">${name}</span>
      ${pictures.length > 1 && html`<span>${t("picture-of", { at: at + 1, count: pictures.length })}</span>`}
      ${
        picture &&
        !covered &&
        html`<a
          class="icon-button"
          href=${picture.url}
          target="_blank"
          rel="noopener noreferrer"
          aria-label=${t("open-file")}
          title=${t("open-file")}
        >
          <${Icon} name="link" />
        </a>`
      }
    </p>
    <${IconButton} icon="close" label=${t("close")} class="lightbox-close" onClick=${onClose} />
    ${
      at > 0 &&
      html`<${IconButton}
        icon="back"
        label=${t("picture-before")}
        class="lightbox-before"
        onClick=${() => step(-1)}
      />`
    }
    ${
      at < pictures.length - 1 &&
      html`<${IconButton}
        icon="back"
        label=${t("picture-after")}
        class="lightbox-after"
        onClick=${() => step(1)}
      />`
    }
  </dialog>`;
}

/** Enlarge an image on a double-tap or double-click, and let the user drag it. */
function useZoom() {
  const [view, setView] = useState(WHOLE);
  const tapped = useRef({ x: 0, y: 0, ms: Number.NEGATIVE_INFINITY });
  const dragged = useRef({ x: 0, y: 0 });
  const isEnlarged = view.scale > 1;
  const toggle = (/** @type {HTMLElement} */ image, /** @type {number} */ x, /** @type {number} */ y) => {
    const { left, top, width, height } = image.getBoundingClientRect();
    const at = { x: (x - left) / width - 0.5, y: (y - top) / height - 0.5 };
    setView(isEnlarged ? WHOLE : zoomed(WHOLE, ENLARGED, at));
  };
  return {
    isEnlarged,
    reset: () => setView(WHOLE),
    tap(/** @type {TouchEvent} */ event) {
      const { target, timeStamp: ms } = event;
      const [{ clientX: x, clientY: y }] = event.changedTouches;
      if (!(target instanceof HTMLImageElement)) return;
      const { x: xBefore, y: yBefore, ms: msBefore } = tapped.current;
      const isSecond = ms - msBefore < DOUBLE_MS && Math.hypot(x - xBefore, y - yBefore) < APART_PX;
      tapped.current = { x, y, ms: isSecond ? Number.NEGATIVE_INFINITY : ms };
      if (!isSecond) return;
      event.preventDefault(); // Prevent a double-click event and the browser's zoom.
      toggle(target, x, y);
    },
    style: isEnlarged && { transform: `translate(${view.x * 100}%, ${view.y * 100}%) scale(${view.scale})` },
    attributes: {
      draggable: !isEnlarged,
      onDblClick: (/** @type {MouseEvent & {currentTarget: HTMLElement}} */ event) =>
        toggle(event.currentTarget, event.clientX, event.clientY),
      onPointerDown(/** @type {PointerEvent & {currentTarget: HTMLElement}} */ event) {
        if (!isEnlarged || !event.isPrimary) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragged.current = { x: event.clientX, y: event.clientY };
      },
      onPointerMove(/** @type {PointerEvent & {currentTarget: HTMLElement}} */ event) {
        const { currentTarget: image, clientX: x, clientY: y } = event;
        if (!isEnlarged || !event.isPrimary || !image.hasPointerCapture(event.pointerId)) return;
        const { x: xBefore, y: yBefore } = dragged.current;
        dragged.current = { x, y };
        // The offset is a fraction of the unscaled image's size.
        const [across, down] = [(x - xBefore) / image.offsetWidth, (y - yBefore) / image.offsetHeight];
        setView((before) => moved(before, across, down));
      },
    },
  };
}
