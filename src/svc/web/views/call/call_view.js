// Shows a voice channel: the call if the user is in it, otherwise a preview with a join button.

/** @import { Person } from "../../call/participants.js" */
/** @import { Channel } from "../../types/api.js" */

import {
  callChannel,
  callEncrypted,
  callTrouble,
  shownCallState,
  ending,
  joinCall,
  soundBlocked,
  unblockSound,
} from "../../call/current_call.js";
import { participants } from "../../call/participants.js";
import { hasPermission } from "../../state/channels.js";
import { memberOf } from "../../state/people.js";
import { openedPanel, openSidePanel, showDialog, target, toggleSidePanel } from "../../state/navigation.js";
import { whyNoCall, whyNotSealed } from "../../state/private_calls.js";
import { countsOf } from "../../state/unread_counts.js";
import { participantsIn } from "../../state/voice.js";
import { html, useEffect } from "../../vendor/preact.js";
import { Controls } from "./controls.js";
import { Stage } from "./stage.js";
import { DrawerButton, InboxButton } from "../channels/sidebar.js";
import { Avatar } from "../parts/avatar.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Lazy } from "../parts/lazy_component.js";
import { formatList, t } from "../../words/words.js";

const MAX_FACES = 6; // The names of all members are also listed as text.
const UnexpectedDevices = Lazy(() => import("./encryption.js"), "UnexpectedDevices");

/** @param {{channel: Channel}} props */
export function CallView({ channel }) {
  const isIn = callChannel.value === channel.id;
  const people = isIn ? participants() : [];
  const wanted = target.value?.channelId === channel.id;
  // A link to a message in the channel's chat opens the chat next to the call.
  useEffect(() => {
    if (wanted) openSidePanel("callText");
  }, [wanted]);
  const { unread } = countsOf(channel.id);
  return html`<main id="call" class="call" data-state=${isIn && shownCallState.value}>
    <header class="head">
      <${DrawerButton} />
      <h1 id="room-name" dir="auto" tabindex="-1">${channel.name}</h1>
      ${
        isIn &&
        html`
          <p id="people-count" class="quiet not-small">${t("people-in-call", { count: people.length })}</p>
          <p id="call-state" class="pill" role="status">
            ${t(`call-${shownCallState.value}`)}
          </p>
        `
      }
      <span class="head-actions">
        ${
          isIn &&
          callEncrypted.value &&
          html`<${IconButton}
            id="encrypted"
            icon="lock"
            label=${t("call-encrypted")}
            onClick=${() => showDialog("call-encrypted", { channelId: channel.id })}
          />`
        }
        <${IconButton}
          icon="thread"
          label=${unread ? `${t("call-text")}, ${t("unread-count", { count: unread })}` : t("call-text")}
          class=${unread ? "with-news" : ""}
          aria-pressed=${openedPanel.value?.name === "callText"}
          onClick=${() => toggleSidePanel("callText")}
        />
        <${InboxButton} />
        <${IconButton}
          icon="people"
          label=${t("members")}
          aria-pressed=${openedPanel.value?.name === "members"}
          onClick=${() => toggleSidePanel("members")}
        />
      </span>
    </header>
    ${isIn && callEncrypted.value && html`<${UnexpectedDevices} channelId=${channel.id} />`}
    ${isIn ? html`<${InCall} people=${people} />` : html`<${WayIn} channel=${channel} />`}
  </main>`;
}

/** @param {{people: Person[]}} props */
function InCall({ people }) {
  return html`
    ${callTrouble.value && html`<p id="call-trouble" class="trouble" role="alert">${callTrouble.value}</p>`}
    ${
      soundBlocked.value &&
      html`<button id="unblock" type="button" class="notice" onClick=${unblockSound}>
        ${t("sound-blocked")}
      </button>`
    }
    <${Stage} people=${people} />
    <${Controls} />
  `;
}

/** The call before joining: its members and the join button. @param {{channel: Channel}} props */
function WayIn({ channel }) {
  const inside = participantsIn(channel.id);
  const names = inside.map(({ nickname }) => nickname);
  const why = whyNoCall() || (channel.encrypted && whyNotSealed());
  return html`<div class="way-in">
    ${
      inside.length > 0 &&
      html`<p class="faces">
        ${inside
          .slice(0, MAX_FACES)
          .map(
            ({ id, nickname }) =>
              html`<${Avatar} key=${id} id=${id} name=${nickname} url=${memberOf(id)?.avatar} size="huge" />`,
          )}
      </p>`
    }
    <p class="large" dir="auto">
      ${names.length ? t("are-here", { names: formatList(names), count: names.length }) : t("nobody-here")}
    </p>
    ${ending.value && !why && html`<p class="error" role="alert">${ending.value}</p>`}
    ${channel.encrypted && html`<p class="quiet"><${Icon} name="lock" /> ${t("call-encrypted-hint")}</p>`}
    ${
      why
        ? html`<p class="error">${why}</p>`
        : hasPermission("join_voice", channel.id)
          ? html`<p class="buttons">
              <${Button} look="primary" icon="voice" onClick=${() => joinCall(channel.id)}>
                ${t("join-call")}
              <//>
              <${Button} icon="gear" onClick=${() => showDialog("join", { channelId: channel.id })}>
                ${t("join-options")}
              <//>
            </p>`
          : html`<p class="quiet">${t("may-not-join")}</p>`
    }
  </div>`;
}
