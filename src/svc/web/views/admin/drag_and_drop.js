// Handles drag and drop: managers can reorder channels, and moderators can move members to another call.
// Loaded only for members with one of these permissions.

/** @import { Channel } from "../../types/api.js" */
/** @import { Signal } from "../../vendor/signals.js" */

import { moveChannel } from "../../state/admin/channel_moves.js";
import { dropped } from "../../state/admin/channel_order.js";
import { channels, hasPermission } from "../../state/channels.js";
import { tryOrNotify } from "../../state/notices.js";
import { signal } from "../../vendor/signals.js";

// No other drop target, such as the message field, accepts this type.
const KIND = "application/x-svc-channel";

/**
 * Browsers always set `dataTransfer` on drag events.
 * @typedef {EventOn<HTMLElement, DragEvent & {dataTransfer: DataTransfer}>} Dragging
 * @typedef {(event: Dragging) => void} Listener
 * @typedef {{draggable?: boolean, "data-drop"?: string, onDragStart?: Listener, onDragOver?: Listener,
 *   onDrop?: Listener, onDragEnd?: () => void}} Attributes
 */

/**
 * The dragged channel, and the channel before or after which it would be dropped.
 * @type {Signal<{id: string, over?: string, after?: boolean} | null>}
 */
const drag = signal(null);

/**
 * Return the attributes that make a channel's element draggable.
 * @param {Channel} channel
 * @returns {Attributes}
 */
export function draggable(channel) {
  if (!hasPermission("manage_channels")) return {};
  const { id } = channel;
  const over = drag.value?.over === id ? (drag.value.after ? "after" : "before") : undefined;
  return {
    draggable: true,
    "data-drop": over,
    onDragStart: (event) => {
      event.stopPropagation();
      event.dataTransfer.setData(KIND, id);
      event.dataTransfer.effectAllowed = "move";
      drag.value = { id };
    },
    onDragOver: (event) => {
      const drop = landing(event, channel);
      if (!drop || !drag.value) return;
      event.preventDefault();
      event.stopPropagation();
      if (drag.value.over !== id || drag.value.after !== drop.after)
        drag.value = { ...drag.value, over: id, after: drop.after };
    },
    onDrop: (event) => {
      const drop = landing(event, channel);
      if (!drop || !drag.value) return;
      event.preventDefault();
      event.stopPropagation();
      const moved = drag.value.id;
      drag.value = null;
      tryOrNotify(moveChannel(moved, drop.where));
    },
    onDragEnd: () => {
      drag.value = null;
    },
  };
}

/**
 * Return where the channel would be dropped: before `onto` if the pointer is in its upper half, otherwise
 * after it. Return null if the channel cannot be dropped there.
 * @param {Dragging} event
 * @param {Channel} onto
 */
function landing(event, onto) {
  const moved = drag.value?.id;
  if (!moved || moved === onto.id) return null;
  const box = event.currentTarget.getBoundingClientRect();
  const after = event.clientY > box.top + box.height / 2;
  const where = dropped(channels.value, moved, onto, after);
  return where && { after: after || (onto.type === "category" && !isCategory(moved)), where };
}

const isCategory = (/** @type {string} */ id) =>
  channels.value.find((channel) => channel.id === id)?.type === "category";

/**
 * The dragged member, their channel, and the channel under the pointer.
 * @type {Signal<{id: string, from: string, over?: string} | null>}
 */
export const draggedPerson = signal(null);

/**
 * Return the attributes that make a voice channel accept dropped members, merged with `others`.
 * @param {string} channelId
 * @param {Attributes} others
 * @returns {Attributes}
 */
export function takingPeople(channelId, others) {
  const fitting = () =>
    draggedPerson.value && draggedPerson.value.from !== channelId && hasPermission("move_members", channelId)
      ? draggedPerson.value
      : null;
  return {
    ...others,
    "data-drop": draggedPerson.value?.over === channelId ? "into" : others["data-drop"],
    onDragOver: (event) => {
      const person = fitting();
      if (!person) {
        others.onDragOver?.(event);
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      if (person.over !== channelId) draggedPerson.value = { ...person, over: channelId };
    },
    onDrop: (event) => {
      const person = fitting();
      if (!person) {
        others.onDrop?.(event);
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      const { id } = person;
      draggedPerson.value = null;
      import("../../state/admin/moderation.js").then(
        ({ moveToCall }) => tryOrNotify(moveToCall(id, channelId)),
        () => {},
      );
    },
  };
}
