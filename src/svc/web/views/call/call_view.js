// A voice channel: the call that we are in, or the way into it.

import { callChannel, callState, ending, joinCall, peopleHere, soundBlocked, unblockSound } from "../../call/calling.js";
import { may } from "../../state/channels.js";
import { aside, drawer, showDialog, toggleAside } from "../../state/place.js";
import { peopleIn } from "../../state/voice.js";
import { html } from "../../vendor/preact.js";
import { listed, t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Controls } from "./controls.js";
import { Stage } from "./stage.js";

export function CallView({ channel }) {
  const here = callChannel.value === channel.id;
  const people = here ? peopleHere() : [];
  return html`<main id="call" class="call">
    <header class="head">
      <${IconButton} icon="menu" label=${t("show-channels")} class="only-small" onClick=${() => { drawer.value = true; }} />
      <h1 id="room-name" dir="auto" tabindex="-1">${channel.name}</h1>
      ${here && html`<p id="people-count" class="quiet">${t("people-in-call", { count: people.length })}</p>
        <p id="call-state" class="pill" role="status" data-state=${callState.value}>${t(`call-${callState.value}`)}</p>`}
      <span class="head-actions"><${IconButton} icon="people" label=${t("members")} aria-pressed=${aside.value?.name === "members"} onClick=${() => toggleAside("members")} /></span>
    </header>
    ${here ? html`<${InCall} people=${people} />` : html`<${WayIn} channel=${channel} />`}
  </main>`;
}

function InCall({ people }) {
  return html`
    ${soundBlocked.value && html`<button id="unblock" type="button" class="notice" onClick=${unblockSound}>${t("sound-blocked")}</button>`}
    <${Stage} people=${people} />
    <${Controls} />`;
}

/** The room from outside: who is in it, and the button that leads in. */
function WayIn({ channel }) {
  const names = peopleIn(channel.id).map(({ nickname }) => nickname);
  return html`<div class="way-in">
    <p class="large" dir="auto">${names.length ? t("are-here", { names: listed(names), count: names.length }) : t("nobody-here")}</p>
    ${ending.value && html`<p class="error" role="alert">${ending.value}</p>`}
    ${may("join_voice", channel.id)
      ? html`<p class="buttons"><${Button} look="primary" icon="voice" onClick=${() => joinCall(channel.id)}>${t("join-call")}<//>
          <${Button} icon="gear" onClick=${() => showDialog("join", { channelId: channel.id })}>${t("join-options")}<//></p>`
      : html`<p class="quiet">${t("may-not-join")}</p>`}
  </div>`;
}
