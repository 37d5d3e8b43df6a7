// Decides which messages need an alert, and passes them to the modules that play sounds and show
// notifications. Stores which alerts are enabled in this browser.

/** @import { Channel, Message } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { withLock, storeValue, storedValue } from "../transport/browser_storage.js";
import { signal } from "../vendor/signals.js";
import { channelsById } from "./channels.js";
import { isMuted, levelOf } from "./notifications.js";
import { blocked, ownQuiet } from "./people.js";
import { currentLocation } from "./navigation.js";
import { lookAtPush, push } from "./push.js";
import { kindOf, alertFor } from "./alert_rules.js";
import { listen, member, unhurried } from "./server.js";
import { pageVisible, isVisibleElsewhere } from "./page_activity.js";
import { threads } from "./threads.js";
import { seen } from "./unread_counts.js";

const STORED_ALERTS = "svc.alerts"; // In localStorage.
const ONE_TAB_MS = 3000; // How long a tab keeps other tabs from alerting for the same message.
export const SOUNDS = /** @type {const} */ (["message", "mention", "join", "leave", "mute"]);
/** @type {Alerts} */
const DEFAULTS = { notices: false, sounds: Object.fromEntries(SOUNDS.map((name) => [name, true])) };

/**
 * The alerts enabled in this browser. The keys of `sounds` are the names in `SOUNDS`.
 * @typedef {{notices: boolean, sounds: {[name: string]: boolean}}} Alerts
 * @typedef {{conversationId: string, seq: number, memberId: string, name: string, text: string}} Private
 * @typedef {{kind: "mention" | "message", channel: Channel, message: Message} | {kind: "mention", secret:
 *   Private}} What
 * @typedef {What & {sound: boolean, notice: boolean}} Alert
 */

/** @type {Signal<Alerts>} */
export const alerts = signal(storedValue(DEFAULTS, STORED_ALERTS));

/** @param {Partial<Alerts>} changes */
export function chooseAlerts(changes) {
  alerts.value = { ...alerts.value, ...changes };
  storeValue(STORED_ALERTS, alerts.value);
}

/** @param {string} name @param {boolean} on */
export const chooseSound = (name, on) => chooseAlerts({ sounds: { ...alerts.value.sounds, [name]: on } });

/** @type {((alert: Alert) => void)[]} */
const listeners = [];

/**
 * Add a listener, which is called with {kind, sound, notice, channel, message} for each alert. For a private
 * message, `secret` replaces `channel` and `message`.
 * @param {(alert: Alert) => void} listener
 */
export const onAlert = (listener) => listeners.push(listener);

/** @param {Message} message */
async function ring(message) {
  const [own, channelId] = [member.value, message.channel_id];
  const follows = !message.thread || threads.value.has(message.thread);
  const kind = kindOf(message, {
    own,
    blocked: blocked.value,
    level: levelOf(channelId),
    muted: isMuted(channelId),
    follows,
  });
  const channel = channelsById.value.get(channelId);
  if (kind && channel)
    await alertOnce(
      message.id,
      { kind, channel, message },
      { messageVisible: !message.thread && seen.value === channelId, notifiedByPush: push.value === "on" },
    );
}

/**
 * Alert the member to a private message. The server sends no notifications for private messages.
 * @param {Private} secret
 */
export async function ringPrivately(secret) {
  if (!blocked.value.has(secret.memberId))
    await alertOnce(
      `${secret.conversationId} ${secret.seq}`,
      { kind: "mention", secret },
      {
        messageVisible: currentLocation.value?.conversationId === secret.conversationId,
        notifiedByPush: false,
      },
    );
}

/**
 * @param {string} id
 * @param {What} what
 * @param {{messageVisible: boolean, notifiedByPush: boolean}} context
 */
async function alertOnce(id, what, context) {
  if (ownQuiet.value) return;
  const { notices, sounds } = alerts.value;
  const alert = alertFor({
    ...context,
    pageVisible: pageVisible.value,
    visibleElsewhere: await isVisibleElsewhere(),
    sound: sounds[what.kind],
    notices,
  });
  if (!(alert.sound || alert.notice)) return;
  await withLock(
    `svc.ring ${id}`,
    async (lock) => {
      if (!lock) return; // Another tab was faster.
      for (const listener of listeners) listener({ ...what, ...alert });
      await new Promise((resolve) => {
        setTimeout(resolve, ONE_TAB_MS);
      });
    },
    { ifAvailable: true },
  );
}

const subscription = () => import("./push_subscription.js");

listen({
  onGreeting() {
    lookAtPush();
    // Renew the subscription, because the server may have a new key, or the browser a new endpoint. A failed
    // renewal is retried after the next greeting.
    if (push.value === "on")
      unhurried(() =>
        subscription()
          .then(({ renew }) => renew())
          .then(
            (state) => {
              push.value = state;
            },
            () => {},
          ),
      );
  },
  onSignOut() {
    subscription()
      .then(({ drop }) => drop())
      .catch(() => {});
    push.value = "off";
  },
  onPush(event, data) {
    if (event === "message_posted") ring(data);
  },
});
