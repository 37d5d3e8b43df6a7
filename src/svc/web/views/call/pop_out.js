// The call in a small window that stays above others, where the browser has such windows.

import { callState, peopleHere } from "../../call/calling.js";
import { h, html, render, useEffect } from "../../vendor/preact.js";
import { Stage } from "./stage.js";

const SIZE = { width: 420, height: 260 };

export const canPopOut = () => "documentPictureInPicture" in window;

export async function popOut() {
  const small = await window.documentPictureInPicture.requestWindow(SIZE);
  for (const sheet of document.querySelectorAll("link[rel=stylesheet]")) small.document.head.append(sheet.cloneNode());
  Object.assign(small.document.documentElement.dataset, document.documentElement.dataset);
  small.document.body.className = "popped-out";
  render(h(PoppedOut, { close: () => small.close() }), small.document.body);
  small.addEventListener("pagehide", () => render(null, small.document.body));
}

function PoppedOut({ close }) {
  const over = callState.value === "none";
  useEffect(() => { if (over) close(); }, [over]);
  return html`<${Stage} people=${peopleHere()} />`;
}
