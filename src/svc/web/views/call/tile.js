// One tile of the stage: a person, or a screen that is shared.

import { speakers } from "../../call/calling.js";
import { pin, pinned } from "../../state/call_layout.js";
import { callSettings, wishesFor } from "../../state/call_settings.js";
import { memberOf } from "../../state/people.js";
import { showDialog } from "../../state/place.js";
import { html, useComputed, useEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Marks } from "../channels/channel_list.js";
import { Avatar, hue } from "../parts/avatar.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

export function PersonTile({ person }) {
  const { id, nickname, own, camera } = person;
  const speaking = useComputed(() => speakers.value.includes(id)).value;
  const known = useComputed(() => memberOf(id)).value;
  const mirrored = own && callSettings.value.mirror;
  const look = ["tile person", mirrored && "mirrored", camera && "with-video", speaking && "speaking"].filter(Boolean).join(" ");
  return html`<${Tile} look=${look} id=${id} name=${own ? t("name-you", { name: nickname }) : nickname} pinKey=${`camera ${id}`} own=${own}
      marks=${html`<${Marks} person=${person} />${wishesFor(id).muted && html`<${Quieted} />`}`}>
    <${Video} track=${camera} />
    ${!camera && html`<${Avatar} id=${id} name=${nickname} url=${known?.avatar} size="large" />`}
  <//>`;
}

export function ScreenTile({ person: { id, nickname, own, screen } }) {
  return html`<${Tile} look="tile screen with-video" id=${id} name=${own ? t("your-screen") : t("screen-of", { name: nickname })} pinKey=${`screen ${id}`} own=${own}>
    <${Video} track=${screen} />
  <//>`;
}

function Tile({ look, id, name, pinKey, own, marks, children }) {
  const tile = useRef(null);
  const full = () => (document.fullscreenElement ? document.exitFullscreen() : tile.current.requestFullscreen());
  const isPinned = pinned.value === pinKey;
  return html`<li class=${look} data-id=${id} ref=${tile} style=${{ "--hue": hue(id) }} onDblClick=${() => pin(pinKey)}>
    ${children}
    <span class="label"><span class="name" dir="auto">${name}</span>${marks}</span>
    <span class="tile-actions">
      ${!own && html`<${IconButton} icon="gear" label=${t("person-options", { name })} onClick=${() => showDialog("callPerson", { memberId: id })} />`}
      <${IconButton} icon="pin" label=${isPinned ? t("unpin-tile", { name }) : t("pin-tile", { name })} aria-pressed=${isPinned} onClick=${() => pin(pinKey)} />
      ${document.fullscreenEnabled && html`<${IconButton} icon="full" label=${t("full-screen-of", { name })} onClick=${full} />`}
    </span>
  </li>`;
}

/** Muted for us alone. */
function Quieted() {
  return html`<span class="voice-mark" title=${t("muted-for-me")}><${Icon} name="bell-off" /><span class="unseen">${t("muted-for-me")}</span></span>`;
}

export function Video({ track }) {
  const video = useRef(null);
  useEffect(() => {
    video.current.srcObject = track && new MediaStream([track]);
  }, [track]);
  return html`<video ref=${video} autoplay playsinline muted></video>`;
}
