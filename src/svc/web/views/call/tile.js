// Renders a stage tile, which shows a participant or a shared screen.

/** @import { Person } from "../../call/participants.js" */
/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { callChannel, speakers, watched, watchScreen } from "../../call/current_call.js";
import { facesAway } from "../../call/media_capture.js";
import { watchWidth } from "../../call/video_visibility.js";
import { pin, pinned } from "../../state/call_layout.js";
import { mayInCall } from "../../state/channels.js";
import { callSettings, personSettings } from "../../state/call_settings.js";
import { stopScreenOf } from "../../state/admin/moderation.js";
import { ranksBelow } from "../../state/admin/role_rank.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { addLayer, showDialog } from "../../state/navigation.js";
import { html, useComputed, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Marks } from "../channels/voice_people.js";
import { Avatar, hue } from "../parts/avatar.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { useLoudness } from "./loudness.js";
import { layersOf } from "./quality_panel.js";
import { Zoomable } from "./zoom.js";

/** @param {{person: Person}} props */
export function PersonTile({ person }) {
  const { id, nickname, own, withheld, lost } = person;
  const isSlow = useComputed(() => isPaused(id, "camera")).value;
  const camera = isSlow ? null : person.camera;
  const speaking = useComputed(() => speakers.value.includes(id)).value;
  const known = useComputed(() => memberOf(id)).value;
  const mirrored = own && callSettings.value.mirror && !facesAway(person.camera);
  const look = [
    "tile person",
    mirrored && "mirrored",
    camera && "with-video",
    speaking && "speaking",
    lost && "lost",
  ]
    .filter(Boolean)
    .join(" ");
  return html`<${Tile}
    look=${look}
    id=${id}
    name=${own ? t("name-you", { name: nickname }) : nickname}
    pinKey=${`camera ${id}`}
    own=${own}
    speaking=${speaking}
    marks=${html`<${Marks} person=${person} />${personSettings(id).muted && html`<${Quieted} />`}`}
  >
    <${Video} track=${person.camera} />
    ${!camera && html`<${Avatar} id=${id} name=${nickname} url=${known?.avatar} size="large" />`}
    ${withheld?.mic && html`<p class="withheld quiet">${t("withheld-sound", { reason: withheld.mic })}</p>`}
    ${isSlow && !withheld?.mic && html`<p class="withheld quiet">${t("paused-slow")}</p>`}
    ${
      withheld?.camera &&
      !withheld.mic &&
      html`<p class="withheld quiet">${t("withheld", { reason: withheld.camera })}</p>`
    }
  <//>`;
}

/**
 * The tile of a shared screen. While paused, it dims the last frame rather than hiding it, because the
 * content is still useful. Until the first frame arrives, it shows the member's avatar.
 * @param {{person: Person}} props
 */
export function ScreenTile({ person: { id, nickname, own, screen, withheld } }) {
  const isSlow = useComputed(() => isPaused(id, "screen")).value;
  const known = useComputed(() => memberOf(id)).value;
  const [seen, setSeen] = useState(/** @type {MediaStreamTrack | null} */ (null));
  const hasFrame = seen === screen;
  const name = own ? t("your-screen") : t("screen-of", { name: nickname });
  if (!screen) return html`<${UnwatchedScreen} id=${id} name=${name} reason=${withheld?.screen} />`;
  const actions =
    !own &&
    html`
      ${
        mayInCall("mute_members", callChannel.value ?? "") &&
        ranksBelow(memberOf(id)) &&
        html`<${IconButton}
          icon="screen-stop"
          label=${t("stop-screen-of", { name: nickname })}
          onClick=${() => tryOrNotify(stopScreenOf(id))}
        />`
      }
      <${IconButton}
        icon="close"
        label=${t("stop-watching", { name })}
        onClick=${() => watchScreen(id, false)}
      />
    `;
  return html`<${Tile}
    look=${`tile screen ${isSlow ? "paused" : ""} ${isSlow && !hasFrame ? "" : "with-video"}`}
    id=${id}
    name=${name}
    pinKey=${`screen ${id}`}
    own=${own}
    actions=${actions}
  >
    <${Zoomable} label=${name}><${Video} track=${screen} onFrame=${() => setSeen(screen)} /><//>
    ${isSlow && !hasFrame && html`<${Avatar} id=${id} name=${nickname} url=${known?.avatar} size="large" />`}
    ${isSlow && html`<p class="withheld slow">${t("paused-slow")}</p>`}
  <//>`;
}

/**
 * Return whether a member's video is paused because the user's downlink is too slow.
 * @param {string} userId
 * @param {"camera" | "screen"} source
 */
function isPaused(userId, source) {
  const layers = layersOf(userId, source);
  return layers?.reason === "line" && layers.paused;
}

/**
 * The tile of a shared screen that this client does not receive.
 * @param {{id: string, name: string, reason?: string}} props
 */
function UnwatchedScreen({ id, name, reason }) {
  const coming = watched.value.includes(id);
  const watch = () =>
    html`<${Button} look="primary" onClick=${() => watchScreen(id, true)}>
      ${t("watch")}<span class="unseen" dir="auto"> ${name}</span>
    <//>`;
  return html`<li class="tile screen unwatched" data-id=${id}>
    <span class="quiet"><${Icon} name="screen" /> <span class="name" dir="auto">${name}</span></span>
    ${
      reason || coming
        ? html`<span class="quiet">${reason ? t("withheld", { reason }) : t("loading")}</span>`
        : watch()
    }
  </li>`;
}

/**
 * @param {{look: string, id: string, name: string, pinKey: string, own: boolean, speaking?: boolean,
 *   marks?: ComponentChildren, actions?: ComponentChildren, children: ComponentChildren}} props
 */
function Tile({ look, id, name, pinKey, own, speaking = false, marks, actions, children }) {
  /** @type {RefObject<HTMLElement>} */
  const tile = useRef(null);
  /** @type {RefObject<HTMLElement>} */
  const glow = useRef(null);
  useLoudness(glow, id, speaking);
  const full = () => (document.fullscreenElement ? document.exitFullscreen() : fill(tile.current));
  const isPinned = pinned.value === pinKey;
  const options = () => showDialog("callPerson", { memberId: id });
  const openMenu = (/** @type {Event} */ event) => {
    event.preventDefault();
    options();
  };
  // The tabindex makes a touched tile receive the focus, which shows its buttons.
  return html`<li
    class=${look}
    data-id=${id}
    ref=${tile}
    tabindex="-1"
    style=${{ "--hue": hue(id) }}
    onDblClick=${() => pin(pinKey)}
    onContextMenu=${own ? undefined : openMenu}
  >
    ${children}
    ${speaking && html`<i class="glow" ref=${glow}></i>`}
    <span class="label"><span class="name" dir="auto">${name}</span>${marks}</span>
    <span class="tile-actions">
      ${actions}
      ${!own && html`<${IconButton} icon="gear" label=${t("person-options", { name })} onClick=${options} />`}
      <${IconButton}
        icon="pin"
        label=${isPinned ? t("unpin-tile", { name }) : t("pin-tile", { name })}
        aria-pressed=${isPinned}
        onClick=${() => pin(pinKey)}
      />
      ${
        document.fullscreenEnabled &&
        html`<${IconButton} icon="full" label=${t("full-screen-of", { name })} onClick=${full} />`
      }
    </span>
  </li>`;
}

/** Show a tile in full screen until the user presses Back, Escape or its button. @param {HTMLElement} tile */
async function fill(tile) {
  await tile.requestFullscreen();
  const leave = addLayer(() => document.exitFullscreen());
  const changed = () => {
    if (document.fullscreenElement) return;
    document.removeEventListener("fullscreenchange", changed);
    leave();
  };
  document.addEventListener("fullscreenchange", changed);
}

/** The icon for a member whom the user has muted for themselves only. */
function Quieted() {
  return html`<span class="voice-mark" title=${t("muted-for-me")}>
    <${Icon} name="bell-off" />
    <span class="unseen">${t("muted-for-me")}</span>
  </span>`;
}

/**
 * A video element that plays a track. `onFrame` is called when the track's first frame is shown.
 * @param {{track: MediaStreamTrack | null, onFrame?: () => void}} props
 */
export function Video({ track, onFrame }) {
  /** @type {RefObject<HTMLVideoElement>} */
  const video = useRef(null);
  useEffect(() => {
    video.current.srcObject = track && new MediaStream([track]);
    return track ? watchWidth(video.current, track) : undefined;
  }, [track]);
  return html`<video ref=${video} autoplay playsinline muted onLoadedData=${onFrame}></video>`;
}
