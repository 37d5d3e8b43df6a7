// One picture large, with those before and after it in the channel: arrow keys, and the way to the file.

import { conversationOf } from "../../state/conversation.js";
import { isSpoiler, shownName } from "../../state/spoilers.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Cover } from "./covered.js";

export function Lightbox({ channelId, fileId, pictures: given, onClose }) {
  const box = useRef(null);
  const [shown, setShown] = useState(fileId);
  const [uncovered, setUncovered] = useState([fileId]); // It was pressed to get here.
  const pictures = (given ?? conversationOf(channelId).messages.value.flatMap(({ attachments }) => attachments)).filter(({ kind }) => kind === "picture");
  const at = pictures.findIndex(({ id }) => id === shown);
  const picture = pictures[at];
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => { if (before?.isConnected) before.focus(); };
  }, []);
  const step = (by) => { if (pictures[at + by]) setShown(pictures[at + by].id); };
  const pressed = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) step(getComputedStyle(box.current).direction === "rtl" ? -by : by);
  };
  const elsewhere = (event) => { if (!event.target.closest("img, button, a")) onClose(); };
  const covered = picture && isSpoiler(picture) && !uncovered.includes(picture.id);
  const uncover = () => {
    setUncovered([...uncovered, picture.id]);
    box.current.querySelector(".lightbox-line button").focus();
  };
  const name = covered ? t("spoiler") : picture?.alt || (picture && shownName(picture.name)) || t("file-gone");
  return html`<dialog class="lightbox" ref=${box} aria-label=${name} onClose=${onClose} onKeyDown=${pressed} onClick=${elsewhere}>
    ${picture ? html`<img key=${picture.id} class=${covered ? "blurred" : ""} src=${picture.url} alt=${covered ? "" : name} width=${picture.width} height=${picture.height} style=${{ "--ratio": picture.width / picture.height }} />` : html`<p>${t("file-gone")}</p>`}
    ${covered && html`<${Cover} kind="picture" onClick=${uncover} />`}
    <p class="lightbox-line"><span class="one-line" dir="auto">${name}</span><span>${t("picture-of", { at: at + 1, count: pictures.length })}</span>
      ${picture && !covered && html`<a class="icon-button" href=${picture.url} target="_blank" rel="noopener noreferrer" aria-label=${t("open-file")} title=${t("open-file")}><${Icon} name="link" /></a>`}
      <${IconButton} icon="close" label=${t("close")} onClick=${onClose} /></p>
    ${at > 0 && html`<${IconButton} icon="back" label=${t("picture-before")} class="lightbox-before" onClick=${() => step(-1)} />`}
    ${at < pictures.length - 1 && html`<${IconButton} icon="back" label=${t("picture-after")} class="lightbox-after" onClick=${() => step(1)} />`}
  </dialog>`;
}
