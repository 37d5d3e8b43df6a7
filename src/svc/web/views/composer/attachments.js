// Attaches files that are picked, pasted or dropped to the message being written.

import { hasPermission, channelAndThreadOf } from "../../state/channels.js";
import { notify } from "../../state/notices.js";
import { uploadsOf } from "../../state/uploads.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";

/** @param {string} conversationKey from state/channels.js @param {File[]} files */
export function attach(conversationKey, files) {
  if (!files.length) return;
  if (!hasPermission("attach_files", channelAndThreadOf(conversationKey).channelId))
    notify(t("may-not-attach"));
  else if (!uploadsOf(conversationKey).add(files)) notify(t("too-many-files"));
}

/**
 * Return event handlers for an element that accepts dropped files, and the overlay that is shown while files
 * are dragged over it.
 * @param {() => boolean} allowed
 * @param {(files: File[]) => void} take
 */
export function useDropping(allowed, take) {
  const [over, setOver] = useState(false);
  const brought = (/** @type {DragEvent} */ { dataTransfer: data }) =>
    data?.types.includes("Files") ? data : null;
  const on = {
    onDragOver: (/** @type {DragEvent} */ event) => {
      const data = brought(event);
      if (!data) return;
      event.preventDefault();
      data.dropEffect = allowed() ? "copy" : "none";
      setOver(true);
    },
    onDragLeave: (/** @type {EventOn<HTMLElement, DragEvent>} */ event) => {
      if (!event.currentTarget.contains(/** @type {Node | null} */ (event.relatedTarget))) setOver(false);
    },
    onDrop: (/** @type {DragEvent} */ event) => {
      const data = brought(event);
      if (!data) return;
      event.preventDefault();
      setOver(false);
      take([...data.files]);
    },
  };
  const shown =
    over &&
    html`<div class="dropping" aria-hidden="true"><${Icon} name="attach" /><p>${t("drop-here")}</p></div>`;
  return { on, shown };
}

/** Return event handlers and the overlay for dropping files on a channel. @param {string} channelId */
export const useDroppingIn = (channelId) =>
  useDropping(
    () => hasPermission("attach_files", channelId),
    (files) => attach(channelId, files),
  );
