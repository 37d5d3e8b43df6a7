// Files put to the message that is being written, however they came: picked, pasted or dropped.

import { may } from "../../state/channels.js";
import { notify } from "../../state/notices.js";
import { partsOf } from "../../state/spot.js";
import { uploadsOf } from "../../state/uploads.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";

/** `spot`: as state/spot.js has them. */
export function attach(spot, files) {
  if (!files.length) return;
  if (!may("attach_files", partsOf(spot).channelId)) notify(t("may-not-attach"));
  else if (!uploadsOf(spot).add(files)) notify(t("too-many-files"));
}

/** What an element needs to take dropped files, and what is shown while some are over it. */
export function useDropping(channelId) {
  const [over, setOver] = useState(false);
  const brings = (event) => event.dataTransfer.types.includes("Files");
  const on = {
    onDragOver: (event) => {
      if (!brings(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = may("attach_files", channelId) ? "copy" : "none";
      setOver(true);
    },
    onDragLeave: (event) => { if (!event.currentTarget.contains(event.relatedTarget)) setOver(false); },
    onDrop: (event) => {
      if (!brings(event)) return;
      event.preventDefault();
      setOver(false);
      attach(channelId, [...event.dataTransfer.files]);
    },
  };
  const shown = over && html`<div class="dropping" aria-hidden="true"><${Icon} name="attach" /><p>${t("drop-here")}</p></div>`;
  return { on, shown };
}
