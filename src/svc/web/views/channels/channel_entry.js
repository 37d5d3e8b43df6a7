// Renders a channel in the list: a text channel with its unread count, or a voice channel with its members.

/** @import { Channel } from "../../types/api.js" */
/** @import { Signal } from "../../vendor/signals.js" */

import { callChannel, joinCall } from "../../call/current_call.js";
import { channels, hasPermission } from "../../state/channels.js";
import { firstPaint } from "../../state/first_paint.js";
import { isMuted } from "../../state/notifications.js";
import { open, currentLocation, showDialog } from "../../state/navigation.js";
import { countsOf, shortCount } from "../../state/unread_counts.js";
import { participantsIn } from "../../state/voice.js";
import { html, useComputed } from "../../vendor/preact.js";
import { effect, signal } from "../../vendor/signals.js";
import { t } from "../../words/words.js";
import { ChannelMenu, onMoveKey, openMenuIn } from "../admin/channel_menu.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Lazy } from "../parts/lazy_component.js";

/**
 * The drag-and-drop module, loaded only if the current user may move channels or members.
 * @type {Signal<typeof import("../admin/drag_and_drop.js") | null>}
 */
const dragging = signal(null);
effect(() => {
  if (
    dragging.value ||
    !(hasPermission("manage_channels") || channels.value.some(({ id }) => hasPermission("move_members", id)))
  )
    return;
  firstPaint
    .then(() => import("../admin/drag_and_drop.js"))
    .then(
      (module) => (dragging.value = module),
      () => {}, // Without the module, the rows cannot be dragged.
    );
});

/** @param {Channel} channel */
export const draggable = (channel) => dragging.value?.draggable(channel) ?? {};

const VoicePeople = Lazy(() => import("./voice_people.js"), "VoicePeople", firstPaint);

/**
 * Return the classes and the badge of a channel's row. The badge is a dot or the number of mentions. Screen
 * readers read the unread count and the mention count.
 * @param {string} channelId
 */
function useUnread(channelId) {
  const { unread, mentions } = useComputed(() => countsOf(channelId)).value;
  const muted = useComputed(() => isMuted(channelId)).value;
  const loud = unread > 0 && !muted;
  return {
    classes: `${loud ? "unread" : ""} ${loud && mentions ? "mentioned" : ""}`,
    marks: html`${
      muted &&
      html`<span class="muted-mark" title=${t("channel-muted")}>
        <${Icon} name="bell-off" />
        <span class="unseen">${t("channel-muted")}</span>
      </span>`
    }
    ${
      (loud || mentions > 0) &&
      html`<span class="badge" aria-hidden="true">${shortCount(mentions || unread)}</span>`
    }
    ${
      unread > 0 &&
      html`<span class="unseen">
        ${t("unread-count", { count: unread })}
        ${mentions > 0 && `, ${t("mention-count", { count: mentions })}`}
      </span>`
    }`,
  };
}

/** @param {{channel: Channel}} props */
export function TextChannel({ channel }) {
  const { classes, marks } = useUnread(channel.id);
  const current = useComputed(() => currentLocation.value?.channelId === channel.id).value;
  return html`<li
    ...${draggable(channel)}
    onContextMenu=${openMenuIn}
    onKeyDown=${(/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) => onMoveKey(event, channel)}
  >
    <div class="channel-row">
      <button
        type="button"
        class=${`channel ${classes}`}
        title=${channel.topic || undefined}
        aria-current=${current ? "page" : undefined}
        onClick=${() => open(channel.id)}
      >
        <${Icon} name="hash" />
        <span class="channel-name" dir="auto">${channel.name}</span>
        ${marks}
      </button>
      <span class="row-actions"><${ChannelMenu} channel=${channel} /></span>
    </div>
  </li>`;
}

/** @param {{channel: Channel}} props */
export function VoiceChannel({ channel }) {
  const people = useComputed(() => participantsIn(channel.id)).value;
  const { classes, marks } = useUnread(channel.id);
  const current = useComputed(() => currentLocation.value?.channelId === channel.id).value;
  const enter = () => {
    open(channel.id);
    if (callChannel.value !== channel.id && hasPermission("join_voice", channel.id)) joinCall(channel.id);
  };
  return html`<li
    ...${dragging.value?.takingPeople(channel.id, draggable(channel)) ?? {}}
    onContextMenu=${openMenuIn}
    onKeyDown=${(/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) => onMoveKey(event, channel)}
  >
    <div class="channel-row">
      <button
        type="button"
        class=${`channel ${classes}`}
        aria-current=${current ? "page" : undefined}
        onClick=${enter}
      >
        <${Icon} name="voice" />
        <span class="channel-name" dir="auto">${channel.name}</span>
        ${
          channel.encrypted &&
          html`<span class="muted-mark" title=${t("channel-encrypted")}><${Icon} name="lock" /></span>`
        }
        ${
          channel.user_limit > 0 &&
          html`<span
            class="user-limit"
            title=${t("user-limit-of", { count: people.length, limit: channel.user_limit })}
          >
            ${people.length}/${channel.user_limit}
          </span>`
        }
        <span class="unseen">
          ${t("voice-channel")}${channel.encrypted && `, ${t("channel-encrypted")}`}
          ${people.length > 0 && `, ${t("people-in-call", { count: people.length })}`}
        </span>
        ${marks}
      </button>
      <span class="row-actions">
        <${IconButton}
          icon="options"
          label=${t("join-with", { channel: channel.name })}
          onClick=${() => showDialog("join", { channelId: channel.id })}
        />
        <${ChannelMenu} channel=${channel} />
      </span>
    </div>
    ${people.length > 0 && html`<${VoicePeople} channel=${channel} people=${people} />`}
  </li>`;
}
