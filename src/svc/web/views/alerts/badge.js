// Shows unread messages on the app's icons. The tab's icon has a badge with the number of mentions, or a dot
// for other unread messages. For an installed app, the system shows the number of mentions on the app's icon.
// During a call, the tab's icon also shows whether others can hear the user.

import { callState, deafened, sending } from "../../call/current_call.js";
import { info } from "../../state/server.js";
import { privateUnread } from "../../state/private_conversations.js";
import { totals } from "../../state/unread_counts.js";
import { computed, effect } from "../../vendor/signals.js";

const OWN = "/web/icon.svg";
const SIZE = 64;
const MAX_COUNT = 9; // Larger numbers do not fit in a tab's icon.

let turn = 0;

export function showBadge() {
  // Computed signals, so that the icon is redrawn only when its badge changes.
  const [mentioned, news] = [
    computed(() => totals.value.mentions + privateUnread.value),
    computed(() => totals.value.unread > 0),
  ];
  effect(() => {
    const [mentions, unread] = [mentioned.value, news.value];
    const icon = info.value?.iconUrl ?? OWN;
    if (mentions) navigator.setAppBadge?.(mentions).catch(() => {});
    else navigator.clearAppBadge?.().catch(() => {});
    const audible = callState.value === "none" ? null : !deafened.value && sending.value.mic;
    show(
      icon,
      audible,
      mentions ? (mentions > MAX_COUNT ? `${MAX_COUNT}+` : String(mentions)) : unread ? "" : null,
    );
  });
}

/**
 * Show this badge. `words` is its text, "" for a dot, or null for no badge. `audible` is whether others can
 * hear the user, or null outside a call.
 * @param {string} icon
 * @param {boolean | null} audible
 * @param {string | null} words
 */
async function show(icon, audible, words) {
  const mine = ++turn;
  const address = words === null && audible === null ? icon : await drawn(icon, audible, words);
  if (mine === turn) /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]")).href = address;
}

/**
 * Draw the icon with its badge. Return the URL of the PNG.
 * @param {string} icon
 * @param {boolean | null} audible
 * @param {string | null} words
 */
async function drawn(icon, audible, words) {
  const canvas = Object.assign(document.createElement("canvas"), { width: SIZE, height: SIZE });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const picture = await loaded(icon);
  if (picture) pen.drawImage(picture, 0, 0, SIZE, SIZE);
  if (audible !== null) drawMicrophone(pen, audible);
  if (words !== null) drawBadge(pen, words);
  return canvas.toDataURL("image/png");
}

/**
 * Draw a green dot in the corner, crossed out while nobody can hear the user.
 * @param {CanvasRenderingContext2D} pen
 * @param {boolean} audible
 */
function drawMicrophone(pen, audible) {
  const [radius, at] = [16, SIZE - 16];
  pen.fillStyle = audible ? "#12a594" : "#16211f";
  pen.strokeStyle = "#ffffff";
  pen.lineWidth = 4;
  pen.beginPath();
  pen.arc(SIZE - at, at, radius - 2, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
  if (audible) return;
  pen.strokeStyle = "#ff8fa1";
  pen.lineWidth = 6;
  pen.beginPath();
  pen.moveTo(SIZE - at - 8, at - 8);
  pen.lineTo(SIZE - at + 8, at + 8);
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {string} words */
function drawBadge(pen, words) {
  const [radius, at] = words ? [21, SIZE - 21] : [14, SIZE - 14];
  pen.fillStyle = "#b52a44";
  pen.beginPath();
  pen.arc(at, at, radius, 0, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = "#ffffff";
  pen.font = `bold ${words.length > 1 ? 26 : 34}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(words, at, at + 2);
}

/**
 * Load an image. Return null if it cannot be loaded or drawn, for example because it is on another site.
 * @param {string} address
 * @returns {Promise<HTMLImageElement | null>}
 */
async function loaded(address) {
  const picture = Object.assign(new Image(SIZE, SIZE), { crossOrigin: "anonymous", src: address });
  return picture.decode().then(
    () => picture,
    () => (address === OWN ? null : loaded(OWN)),
  );
}
