// Provides the menu items for a channel's notification level and mute.

/** @import { Channel } from "../../types/api.js" */
/** @import { ItemList } from "../parts/menu.js" */

import { chooseLevel, choiceOf, isMuted, LEVELS, levelOf, mute, unmute } from "../../state/notifications.js";
import { tryOrNotify } from "../../state/notices.js";
import { addressOf } from "../../state/navigation.js";
import { countsOf, readAll } from "../../state/unread_counts.js";
import { t } from "../../words/words.js";
import { copy } from "../parts/copy_field.js";
import { formatMoment } from "../parts/time.js";

/** Mute durations in seconds. 0 means until unmuted. */
export const MUTES = [
  { name: "15-minutes", seconds: 15 * 60 },
  { name: "1-hour", seconds: 3600 },
  { name: "8-hours", seconds: 8 * 3600 },
  { name: "24-hours", seconds: 24 * 3600 },
  { name: "until-changed", seconds: 0 },
];

/** Return the notification items for a channel's menu. @param {Channel} channel @returns {ItemList} */
export function notificationItems({ id, type }) {
  if (type !== "text") return [];
  return [
    countsOf(id).unread > 0 && { label: t("mark-read"), icon: "check", onChoose: () => readAll([id]) },
    { label: t("notifications"), icon: isMuted(id) ? "bell-off" : "bell", items: () => levelItems(id) },
    { label: t("copy-link"), icon: "link", onChoose: () => copy(addressOf(id), t("link-copied")) },
  ];
}

/** Return the menu items for a channel's level and mute. @param {string} channelId @returns {ItemList} */
export function levelItems(channelId) {
  const { level, muted, muted_until_ms: untilMs } = choiceOf(channelId);
  const inherited = choiceOf(null).level ?? levelOf(null);
  return [
    { heading: t("notify-about") },
    {
      label: t("level-default", { level: t(`level-${inherited}`) }),
      checked: level === null,
      onChoose: () => tryOrNotify(chooseLevel(channelId, null)),
    },
    ...LEVELS.map((offered) => ({
      label: t(`level-${offered}`),
      checked: level === offered,
      onChoose: () => tryOrNotify(chooseLevel(channelId, offered)),
    })),
    ...(muted ? unmuteItems(channelId, untilMs) : muteItems(channelId)),
  ];
}

/**
 * Return the items that mute the channel, or all channels if `channelId` is null.
 * @param {string | null} channelId
 * @returns {ItemList}
 */
export function muteItems(channelId) {
  return [
    { heading: t("mute-for") },
    ...MUTES.map(({ name, seconds }) => ({
      label: t(`mute-${name}`),
      onChoose: () => tryOrNotify(mute(channelId, seconds)),
    })),
  ];
}

/** @param {string | null} channelId @param {number | null} untilMs @returns {ItemList} */
function unmuteItems(channelId, untilMs) {
  return [
    { heading: mutedWords(untilMs) },
    { label: t("unmute-channel"), icon: "bell", onChoose: () => tryOrNotify(unmute(channelId)) },
  ];
}

/** Describe when a mute ends, such as "Muted until 15:30." @param {number | null} untilMs */
export function mutedWords(untilMs) {
  return untilMs === null ? t("muted-for-good") : t("muted-until", { time: formatMoment(untilMs) });
}
