// Renders the channel list: uncategorised text and voice channels, then the categories, which can be
// collapsed.

/** @import { Section } from "../../state/admin/channel_order.js" */
/** @import { Channel } from "../../types/api.js" */

import { callChannel } from "../../call/current_call.js";
import { sectionsOf } from "../../state/admin/channel_order.js";
import { channels, collapsed, hasPermission, toggleCollapsed } from "../../state/channels.js";
import { currentLocation, showDialog } from "../../state/navigation.js";
import { conversations } from "../../state/private_conversations.js";
import { countsOf } from "../../state/unread_counts.js";
import { html, useComputed } from "../../vendor/preact.js";
import { ChannelMenu, onMoveKey, openMenuIn } from "../admin/channel_menu.js";
import { draggable, TextChannel, VoiceChannel } from "./channel_entry.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Lazy } from "../parts/lazy_component.js";
import { moveAmong } from "../parts/menu.js";
import { t } from "../../words/words.js";

const ConversationList = Lazy(() => import("../private/conversation_list.js"), "ConversationList");

export function ChannelList() {
  const move = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) =>
    moveAmong(event, [
      .../** @type {NodeListOf<HTMLElement>} */ (event.currentTarget.querySelectorAll(".channel, .category")),
    ]);
  const sections = useComputed(() => sectionsOf(channels.value)).value;
  return html`<nav id="channels" aria-label=${t("channels")} onKeyDown=${move}>
    ${conversations.value.length > 0 && html`<${ConversationList} />`}
    ${sections.map((section) =>
      section.category
        ? html`<${Category} key=${section.category.id} ...${section} />`
        : html`<${Loose} key=${section.kind} ...${section} bare=${sections.length === 2} />`,
    )}
  </nav>`;
}

/**
 * The uncategorised channels of one kind. `bare` means that the server has no categories.
 * @param {Section & {category: null, bare: boolean}} props
 */
function Loose({ kind, channels: inside, bare }) {
  if (!inside.length && !(bare && hasPermission("manage_channels"))) return null;
  return html`
    <div class="list-heading">
      <h3>${kind === "text" ? t("text-channels") : t("voice-channels")}</h3>
      <${Add} type=${kind} parentId=${null} />
    </div>
    <ul id=${`${kind}-channels`}>
      ${inside.map((channel) => html`<${Entry} key=${channel.id} channel=${channel} />`)}
    </ul>
  `;
}

/**
 * A category. When collapsed, it shows only the open channel, the channel of the user's call, and unread
 * channels.
 * @param {Section & {category: Channel}} props
 */
function Category({ category, channels: inside }) {
  const { id, name } = category;
  const shut = collapsed.value.has(id);
  const shown = shut
    ? inside.filter(
        (channel) =>
          currentLocation.value?.channelId === channel.id ||
          callChannel.value === channel.id ||
          countsOf(channel.id).unread > 0,
      )
    : inside;
  return html`<section aria-label=${name}>
    <div
      class="list-heading"
      ...${draggable(category)}
      onContextMenu=${openMenuIn}
      onKeyDown=${(/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) => onMoveKey(event, category)}
    >
      <h3>
        <button type="button" class="category" aria-expanded=${!shut} onClick=${() => toggleCollapsed(id)}>
          <${Icon} name="back" />
          <span dir="auto">${name}</span>
        </button>
      </h3>
      <${ChannelMenu} channel=${category} />
      <${Add} type="text" parentId=${id} name=${name} />
    </div>
    <ul>${shown.map((channel) => html`<${Entry} key=${channel.id} channel=${channel} />`)}</ul>
  </section>`;
}

/** @param {{channel: Channel}} props */
function Entry({ channel }) {
  return channel.type === "voice"
    ? html`<${VoiceChannel} channel=${channel} />`
    : html`<${TextChannel} channel=${channel} />`;
}

/**
 * The "+" button on a heading, for members who may create channels.
 * @param {{type: "text" | "voice", parentId: string | null, name?: string}} props
 */
function Add({ type, parentId, name }) {
  if (!hasPermission("manage_channels")) return null;
  const label = name
    ? t("create-channel-in", { name })
    : type === "text"
      ? t("create-text-channel")
      : t("create-voice-channel");
  return html`<${IconButton}
    icon="add"
    label=${label}
    class="add"
    onClick=${() => showDialog("create-channel", { type, parentId })}
  />`;
}
