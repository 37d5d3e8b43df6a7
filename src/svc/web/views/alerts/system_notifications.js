// Shows system notifications while the page is open but not visible. The service worker shows both these and
// pushed notifications, so a click on either opens the message.

/** @import { Alert, Private } from "../../state/alerts.js" */
/** @import { Channel, Message } from "../../types/api.js" */
/** @import { NotificationTarget, NotificationContent } from "../../types/wire.js" */

import { conversations, conversationsById } from "../../state/private_conversations.js";
import { unread } from "../../state/unread_counts.js";
import { withLock } from "../../transport/browser_storage.js";
import { activeRegistration } from "../../transport/service_worker_registration.js";
import { effect } from "../../vendor/signals.js";

/** Return whether the member or the browser has blocked notifications. */
export const noticesRefused = () => !globalThis.Notification || Notification.permission === "denied";

/** Ask the browser for permission. Call only from a click. Resolve to whether notifications are allowed. */
export async function askForNotices() {
  return Boolean(globalThis.Notification) && (await Notification.requestPermission()) === "granted";
}

/** @param {Alert} alert */
export async function showNotice(alert) {
  if (globalThis.Notification?.permission !== "granted") return;
  const worker = (await activeRegistration())?.active;
  worker?.postMessage({ ring: "secret" in alert ? privately(alert.secret) : inChannel(alert) });
}

/**
 * @param {{kind: NotificationContent["kind"], channel: Channel, message: Message}} alert
 * @returns {NotificationContent}
 */
const inChannel = ({ kind, channel, message }) => ({
  kind,
  channel_id: channel.id,
  channel: channel.name,
  message_id: message.id,
  author: message.author.display_name,
  text: message.text ?? "",
  files: message.attachments.length,
});

/** @param {Private} secret @returns {NotificationContent} */
const privately = ({ conversationId, name, text }) => ({
  kind: "mention",
  talk_id: conversationId,
  author: name,
  text,
});

/** Close the notifications of messages that have been read on any device. */
export function closeReadNotices() {
  let before = /** @type {Set<string>} */ (new Set());
  effect(() => {
    const channels = Object.entries(unread.value)
      .filter(([, counts]) => counts.unread)
      .map(([id]) => id);
    const waiting = new Set([
      ...channels,
      ...conversations.value.filter((conversation) => conversation.unread).map(({ id }) => id),
    ]);
    const done = [...before].filter((id) => !waiting.has(id));
    before = waiting;
    if (done.length && globalThis.Notification?.permission === "granted") close(done);
  });
}

/** @param {string[]} ids */
async function close(ids) {
  const shown = (await noticesShown()) ?? [];
  for (const notice of shown) {
    /** @type {NotificationTarget} */
    const { channelId = "", messageId = "", conversationId } = notice.data ?? {};
    // A notification may have appeared while this function was waiting.
    const isNewer = conversationId
      ? conversationsById.value.get(conversationId)?.unread
      : messageId > unread.value[channelId]?.read_up_to;
    if (ids.includes(conversationId ?? channelId) && !isNewer) notice.close();
  }
}

/** Close the notification of a call that is no longer ringing. @param {string} conversationId */
export async function closeCallNotice(conversationId) {
  if (globalThis.Notification?.permission !== "granted") return;
  const shown = (await noticesShown()) ?? [];
  for (const notice of shown) if (notice.tag === `call ${conversationId}`) notice.close();
}

/**
 * Return the displayed notifications. Tabs and the service worker take turns at changing them (see sw.js).
 */
const noticesShown = () =>
  withLock("svc.notices", async () => (await activeRegistration())?.getNotifications());
