// Notices of the system, while the page is open and not in sight. The service worker shows them, as it does what is
// pushed, so that a press on either leads to the message.

import { unread } from "../../state/unread.js";
import { running } from "../../transport/worker.js";
import { effect } from "../../vendor/signals.js";

/** Has the person, or the browser, forbidden them? */
export const noticesRefused = () => !globalThis.Notification || Notification.permission === "denied";

/** To be pressed: the browser asks the person. Resolves with whether they may be shown. */
export async function askForNotices() {
  return Boolean(globalThis.Notification) && (await Notification.requestPermission()) === "granted";
}

export async function showNotice({ kind, channel, message }) {
  if (globalThis.Notification?.permission !== "granted") return;
  const worker = (await running())?.active;
  worker?.postMessage({
    ring: {
      kind,
      channel_id: channel.id,
      channel: channel.name,
      message_id: message.id,
      author: message.author.display_name,
      text: message.text ?? "",
      files: message.attachments.length,
    },
  });
}

/** What was read meanwhile needs no notice any more, wherever it was read. */
export function closeReadNotices() {
  let before = new Set();
  effect(() => {
    const waiting = new Set(Object.entries(unread.value).filter(([, counts]) => counts.unread).map(([id]) => id));
    const done = [...before].filter((id) => !waiting.has(id));
    before = waiting;
    if (done.length && globalThis.Notification?.permission === "granted") close(done);
  });
}

async function close(channelIds) {
  const shown = (await (await running())?.getNotifications()) ?? [];
  for (const notice of shown) if (channelIds.includes(notice.data?.channelId)) notice.close();
}
