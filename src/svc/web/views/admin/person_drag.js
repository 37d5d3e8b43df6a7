// Drag a person from a call to another voice channel, as a moderator.

/** @import { Signal } from "../../vendor/signals.js" */
/** @import { Attributes } from "./channel_drag.js" */

import { may } from "../../state/channels.js";
import { tried } from "../../state/notices.js";
import { signal } from "../../vendor/signals.js";

/**
 * The dragged person, their channel, and the channel under the pointer.
 * @type {Signal<{id: string, from: string, over?: string} | null>}
 */
export const drag = signal(null);

/**
 * Return the attributes of a voice channel that takes people, merged with `others`.
 * @param {string} channelId
 * @param {Attributes} others
 * @returns {Attributes}
 */
export function takingPeople(channelId, others) {
  const fitting = () =>
    drag.value && drag.value.from !== channelId && may("move_members", channelId) ? drag.value : null;
  return {
    ...others,
    "data-drop": drag.value?.over === channelId ? "into" : others["data-drop"],
    onDragOver: (event) => {
      const person = fitting();
      if (!person) {
        others.onDragOver?.(event);
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      if (person.over !== channelId) drag.value = { ...person, over: channelId };
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
      drag.value = null;
      import("../../state/admin/moderation.js").then(
        ({ moveToCall }) => tried(moveToCall(id, channelId)),
        () => {},
      );
    },
  };
}
