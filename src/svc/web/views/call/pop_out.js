// Shows the call in a small window that stays on top of other windows. In browsers that support this only for
// a single video, the window shows the first video on the stage.

import { callState } from "../../call/current_call.js";
import { participants } from "../../call/participants.js";
import { notify } from "../../state/notices.js";
import { h, html, render, useEffect } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { LeaveControl, MicControl } from "./control_button.js";
import { Stage } from "./stage.js";

const SIZE = { width: 420, height: 300 };
const PICTURES = "#screens .with-video video, #people .with-video video";

export const canPopOut = () =>
  Boolean(window.documentPictureInPicture) || document.pictureInPictureEnabled === true;

export async function popOut() {
  if (!window.documentPictureInPicture) return popPicture();
  const small = await window.documentPictureInPicture.requestWindow(SIZE);
  for (const sheet of document.querySelectorAll("link[rel=stylesheet]"))
    small.document.head.append(sheet.cloneNode());
  Object.assign(small.document.documentElement.dataset, document.documentElement.dataset);
  small.document.title = document.title;
  small.document.documentElement.lang = document.documentElement.lang;
  small.document.body.className = "popped-out";
  render(h(PoppedOut, { close: () => small.close() }), small.document.body);
  small.addEventListener("pagehide", () => render(null, small.document.body));
}

async function popPicture() {
  const picture = /** @type {HTMLVideoElement | null} */ (document.querySelector(PICTURES));
  if (picture) await picture.requestPictureInPicture();
  else notify(t("pop-out-nothing"));
}

/** @param {{close: () => void}} props */
function PoppedOut({ close }) {
  const over = callState.value === "none";
  useEffect(() => {
    if (over) close();
  }, [over]);
  return html`
    <${Stage} people=${participants()} />
    <div class="call-controls" role="group" aria-label=${t("call-controls")}>
      <${MicControl} />
      <${LeaveControl} />
    </div>
  `;
}
