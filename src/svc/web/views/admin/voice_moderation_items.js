// Provides the moderation items in a call participant's menu.

/** @import { VoiceMember } from "../../types/api.js" */
/** @import { ItemList } from "../parts/menu.js" */
/** @import { Attributes } from "./drag_and_drop.js" */

import { tracks, unwatched } from "../../call/current_call.js";
import { hasPermission, voiceChannels } from "../../state/channels.js";
import {
  deafenInCalls,
  endCallOf,
  lowerHandOf,
  moveToCall,
  muteInCalls,
  stopScreenOf,
} from "../../state/admin/moderation.js";
import { letSpeak, mayLetSpeak } from "../../state/admin/channels.js";
import { ranksBelow } from "../../state/admin/role_rank.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { t } from "../../words/words.js";
import { draggedPerson } from "./drag_and_drop.js";

const KIND = "application/x-svc-person";

/** @param {string} id @param {string} channelId */
export const mayMove = (id, channelId) =>
  ranksBelow(memberOf(id)) && hasPermission("move_members", channelId);

/** Return whether the member is sharing a screen. This is known only for members in the user's own call. */
const shares = (/** @type {string} */ id) =>
  tracks.value.some(({ userId, source }) => userId === id && source === "screen") ||
  unwatched.value.includes(id);

/** @param {VoiceMember} person @param {string} channelId @returns {ItemList} */
export function voiceItems(person, channelId) {
  const { id, muted, deafened, hand, may_speak: speaks } = person;
  /** @type {ItemList[number]} */
  const lower = hand > 0 &&
    hasPermission("mute_members", channelId) && {
      label: t("lower-hand"),
      icon: "hand",
      onChoose: () => tryOrNotify(lowerHandOf(id, channelId)),
    };
  if (!ranksBelow(memberOf(id))) return [lower].filter(Boolean);
  const rooms = mayMove(id, channelId)
    ? voiceChannels.value.filter(
        (channel) => channel.id !== channelId && hasPermission("move_members", channel.id),
      )
    : [];
  const mutes = hasPermission("mute_members") && hasPermission("mute_members", channelId);
  return /** @type {ItemList} */ ([
    lower,
    mayLetSpeak(id, channelId) && {
      label: speaks ? t("to-audience") : t("invite-to-speak"),
      icon: speaks ? "people" : "mic",
      onChoose: () => tryOrNotify(letSpeak(id, channelId, !speaks)),
    },
    mutes && {
      label: muted ? t("unmute-in-calls") : t("mute-in-calls"),
      icon: muted ? "mic" : "mic-off",
      onChoose: () => tryOrNotify(muteInCalls(id, !muted)),
    },
    mutes && {
      label: deafened ? t("undeafen-in-calls") : t("deafen-in-calls"),
      icon: deafened ? "headphones" : "deafen",
      onChoose: () => tryOrNotify(deafenInCalls(id, !deafened)),
    },
    hasPermission("mute_members", channelId) &&
      shares(id) && {
        label: t("stop-screen"),
        icon: "screen-stop",
        onChoose: () => tryOrNotify(stopScreenOf(id)),
      },
    ...rooms.map((room) => ({
      label: t("move-to", { channel: room.name }),
      icon: "voice",
      onChoose: () => tryOrNotify(moveToCall(id, room.id)),
    })),
    mayMove(id, channelId) && {
      label: t("end-call-of"),
      icon: "leave",
      danger: true,
      onChoose: () => tryOrNotify(endCallOf(id)),
    },
  ]).filter(Boolean);
}

/**
 * Return the attributes that make a member in the channel list draggable.
 * @param {string} id
 * @param {string} channelId
 * @returns {Attributes}
 */
export function draggablePerson(id, channelId) {
  if (!mayMove(id, channelId)) return {};
  return {
    draggable: true,
    onDragStart: (event) => {
      event.stopPropagation();
      event.dataTransfer.setData(KIND, id);
      event.dataTransfer.effectAllowed = "move";
      draggedPerson.value = { id, from: channelId };
    },
    onDragEnd: () => {
      draggedPerson.value = null;
    },
  };
}
