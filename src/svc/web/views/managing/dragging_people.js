// Somebody in a call is dragged to another voice channel by a moderator.

import { may } from "../../state/channels.js";
import { tried } from "../../state/notices.js";
import { signal } from "../../vendor/signals.js";

/** {id, from, over}: who is dragged out of which channel, and over which; null otherwise. */
export const drag = signal(null);

/** The attributes of a voice channel that takes people, with those that it has for other reasons. */
export function takingPeople(channelId, others) {
  const fits = () => drag.value && drag.value.from !== channelId && may("move_members", channelId);
  return {
    ...others,
    "data-drop": drag.value?.over === channelId ? "into" : others["data-drop"],
    onDragOver: (event) => {
      if (!fits()) {
        others.onDragOver?.(event);
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      if (drag.value.over !== channelId) drag.value = { ...drag.value, over: channelId };
    },
    onDrop: (event) => {
      if (!fits()) {
        others.onDrop?.(event);
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      const { id } = drag.value;
      drag.value = null;
      import("../../state/managing/moderation.js").then(({ moveToCall }) => tried(moveToCall(id, channelId)), () => {});
    },
  };
}
