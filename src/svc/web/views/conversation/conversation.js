// Renders a text channel: its header, messages, typing indicator and composer.

/** @import { Conversation as Held } from "../../state/conversation.js" */
/** @import { Target } from "../../state/navigation.js" */
/** @import { Channel } from "../../types/api.js" */
/** @import { Permission } from "../../types/wire.js" */
/** @import { ComponentChildren } from "../../vendor/preact.js" */
/** @import { ItemList } from "../parts/menu.js" */

import { hasPermission } from "../../state/channels.js";
import { conversationOf, fetchMessage } from "../../state/conversation.js";
import { sidePanel, openSidePanel, showDialog, target, toggleSidePanel } from "../../state/navigation.js";
import { firstPaint } from "../../state/first_paint.js";
import { stage } from "../../state/sign_in.js";
import { isMuted } from "../../state/notifications.js";
import { notify } from "../../state/notices.js";
import { blocked, memberOf } from "../../state/people.js";
import { connection, member } from "../../state/server.js";
import { unreadInThreads } from "../../state/threads.js";
import { typing } from "../../state/typing_indicators.js";
import { html, useEffect, useMemo, useRef } from "../../vendor/preact.js";
import { levelItems } from "../alerts/level_menu.js";
import { DrawerButton, InboxButton } from "../channels/sidebar.js";
import { useDroppingIn } from "../composer/attachments.js";
import { Composer } from "../composer/composer.js";
import { Timeline } from "./timeline.js";
import { Button, IconButton, SearchButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Skeletons } from "../parts/skeletons.js";
import { Lazy } from "../parts/lazy_component.js";
import { MenuButton } from "../parts/menu.js";
import { formatDuration } from "../parts/time.js";
import { explain, formatList, t } from "../../words/words.js";

const Onboarding = Lazy(() => import("../sign_in/onboarding.js"), "Onboarding", firstPaint);

/** @typedef {{current: Timeline | null}} TimelineRef */

/** @param {{channel: Channel}} props */
export function Conversation({ channel }) {
  const conversation = useMemo(() => conversationOf(channel.id), [channel.id]);
  const timeline = useRef(/** @type {Timeline | null} */ (null));
  useJumps(channel, conversation, timeline);
  const dropping = useDroppingIn(channel.id);
  return html`<main id="text" class="conversation" ...${dropping.on}>
    <${Head} channel=${channel} />
    <${Messages} channel=${channel} conversation=${conversation} timeline=${timeline} />
    ${stage.value && html`<${Onboarding} />`}
    <${Typing} channel=${channel} />
    <${Composer} channel=${channel} timeline=${timeline} />
    ${dropping.shown}
  </main>`;
}

/**
 * Jump to the requested message. Fetch the messages around it if they are not loaded.
 * @param {Channel} channel
 * @param {Held} conversation
 * @param {TimelineRef} timeline
 */
export function useJumps(channel, conversation, timeline) {
  const wanted = target.value;
  useEffect(() => {
    if (!wanted || wanted.channelId !== channel.id) return;
    if (wanted.newest) timeline.current?.toEnd();
    else
      reach(conversation, wanted).then(
        (id) => id && timeline.current?.reveal(id),
        (error) => notify(error.code === "unknown_message" ? t("message-gone") : explain(error)),
      );
    target.value = null;
  }, [wanted]);
}

/**
 * Load the requested message. Resolve to its id, or to null if it is in a thread or was deleted.
 * @param {Held} conversation
 * @param {Target} wanted
 */
async function reach(conversation, { messageId, atMs }) {
  if (atMs !== undefined) return conversation.at(atMs);
  const isHere = () => conversation.messages.peek().some(({ id }) => id === messageId);
  if (!messageId || isHere()) return messageId;
  await conversation.around(messageId);
  if (isHere()) return messageId;
  // The message is in a thread or was deleted.
  const { channel_id: channelId, thread } = await fetchMessage(conversation.channelId, messageId);
  if (thread) openSidePanel("thread", { channelId, thread, messageId });
  return null;
}

/** @param {{channel: Channel}} props */
function Head({ channel }) {
  const shown = sidePanel.value?.name;
  const news = unreadInThreads.value ? "with-news" : "";
  return html`<header class="head">
    <${DrawerButton} />
    <div class="titles">
      <h1 id="text-name" dir="auto" tabindex="-1">${channel.name}</h1>
      <button
        type="button"
        class=${news ? "about news-inside" : "about"}
        aria-haspopup="dialog"
        aria-label=${t("about", { name: channel.name })}
        title=${channel.topic || undefined}
        onClick=${() => showDialog("about", { channelId: channel.id })}
      >
        <${Icon} name="lower" />
      </button>
      <p id="topic" class="quiet" dir="auto">${channel.topic}</p>
    </div>
    <span class="head-actions">
      <${InboxButton} />
      <${IconButton}
        icon="people"
        label=${t("members")}
        aria-pressed=${shown === "members"}
        onClick=${() => toggleSidePanel("members")}
      />
      <${SearchButton}
        label=${t("search-field")}
        aria-pressed=${shown === "search"}
        onClick=${() => toggleSidePanel("search")}
      />
      <${MenuButton}
        label=${t("channel-more")}
        class=${`for-mice ${news}`}
        items=${() => moreItems(channel)}
      />
    </span>
  </header>`;
}

/** Return the items of the header's menu. @param {Channel} channel @returns {ItemList} */
const moreItems = ({ id }) => [
  { label: t("pins"), icon: "pin", onChoose: () => openSidePanel("pins") },
  { label: t("threads"), icon: "thread", onChoose: () => openSidePanel("threads") },
  { label: t("notifications"), icon: isMuted(id) ? "bell-off" : "bell", items: () => levelItems(id) },
  hasPermission("manage_channels") && {
    label: t("edit-channel"),
    icon: "gear",
    onChoose: () => showDialog("channel", { channelId: id }),
  },
];

/**
 * The messages of a channel or thread. `root` is a thread's root message.
 * @param {{channel: Channel, conversation: Held, timeline: TimelineRef, root?: ComponentChildren}} props
 */
export function Messages({ channel, conversation, timeline, root }) {
  const { loaded, messages, problem } = conversation;
  if (problem.value) {
    return html`<div class="empty">
      <p class="error">${problem.value}</p>
      <${Button} onClick=${() => conversation.again()}>${t("try-again")}<//>
    </div>`;
  }
  if (!loaded.value)
    return connection.value === "online"
      ? html`<${Skeletons} />`
      : html`<div class="empty"><p class="quiet">${t("offline-text")}</p></div>`;
  return html`<${Timeline}
    key=${conversation.key}
    ref=${timeline}
    channel=${channel}
    conversation=${conversation}
    root=${root}
    empty=${!messages.value.length}
    hasPermission=${(/** @type {Permission} */ permission) => hasPermission(permission, channel.id)}
  />`;
}

/**
 * The typing indicator or, if nobody is typing, the channel's slow mode.
 * @param {{channel: Channel}} props
 */
export function Typing({ channel: { id: channelId, slow_mode_s: slowS } }) {
  const own = member.value?.id;
  const names = (typing.value[channelId] ?? [])
    .filter((id) => id !== own && !blocked.value.has(id))
    .map((id) => memberOf(id)?.nickname ?? t("somebody"));
  const waits =
    slowS > 0 && hasPermission("send_messages", channelId) && !hasPermission("manage_messages", channelId);
  const words = !names.length
    ? waits && t("slow-mode-here", { time: formatDuration(slowS) })
    : names.length > 3
      ? t("many-typing")
      : t("typing", { names: formatList(names), count: names.length });
  return html`<p id="typing" class="quiet" aria-live="polite" dir="auto">${words}</p>`;
}
