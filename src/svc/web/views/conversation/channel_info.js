// Shows a channel's full topic and the buttons for which the header has no room on a phone: notifications,
// threads, pins and members.

/** @import { IconName } from "../parts/icon.js" */

import { channelsById, hasPermission } from "../../state/channels.js";
import { isMuted } from "../../state/notifications.js";
import { closeDialogs, openSidePanel, showDialog } from "../../state/navigation.js";
import { unreadInThreads } from "../../state/threads.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { levelItems } from "../alerts/level_menu.js";
import { Markdown } from "../message_text.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { MenuButton } from "../parts/menu.js";
import { formatDuration } from "../parts/time.js";

/** @param {{channelId: string, onClose: () => void}} props */
export function About({ channelId, onClose }) {
  const channel = channelsById.value.get(channelId);
  if (!channel) return html`<${Dialog} title=${t("channel-gone")} onClose=${onClose} />`;
  const { name, topic, slow_mode_s: slowS } = channel;
  const muted = isMuted(channelId);
  const showBeside = (/** @type {string} */ panel) => {
    closeDialogs();
    openSidePanel(panel);
  };
  return html`<${Dialog} title=${name} onClose=${onClose} class="about-channel">
    ${topic && html`<div class="text" dir="auto"><${Markdown} text=${topic} /></div>`}
    ${slowS > 0 && html`<p class="quiet">${t("slow-mode-here", { time: formatDuration(slowS) })}</p>`}
    <div class="about-ways">
      <${MenuButton} items=${() => levelItems(channelId)} label=${t("notifications")} class="about-way">
        <${Icon} name=${muted ? "bell-off" : "bell"} /> ${
          muted ? t("notifications-muted") : t("notifications")
        }
      <//>
      <${Way}
        icon="thread"
        words=${t("threads")}
        news=${unreadInThreads.value}
        onClick=${() => showBeside("threads")}
      />
      <${Way} icon="pin" words=${t("pins")} onClick=${() => showBeside("pins")} />
      <${Way} icon="people" words=${t("members")} onClick=${() => showBeside("members")} />
      ${
        hasPermission("manage_channels") &&
        html`<${Way}
          icon="gear"
          words=${t("edit-channel")}
          onClick=${() => showDialog("channel", { channelId })}
        />`
      }
    </div>
  <//>`;
}

/** @param {{icon: IconName, words: string, news?: unknown, onClick: () => void}} props */
function Way({ icon, words, news, onClick }) {
  return html`<button type="button" class="about-way" onClick=${onClick}>
    <${Icon} name=${icon} /> ${words}${news ? html`<span class="badge">${t("inbox-new")}</span>` : ""}
  </button>`;
}
