// Renders the sidebar: the server, its channels, the ongoing call and the user's profile. Also renders the
// buttons in every header that open the inbox and, on a phone, the channel list.

import { hasPermission } from "../../state/channels.js";
import { openReports } from "../../state/admin/reports.js";
import { showDialog, sidePanel, drawer, toggleSidePanel } from "../../state/navigation.js";
import { connection, info } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { CallBar } from "../call/call_bar.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { OwnCorner } from "../people/own_profile.js";
import { ChannelList } from "./channel_list.js";
import { openServerMenu, ServerMenu } from "./server_menu.js";
import { privateUnread } from "../../state/private_conversations.js";
import { threads } from "../../state/threads.js";
import { elsewhere, totals } from "../../state/unread_counts.js";

export function Sidebar() {
  const reports = openReports.value?.length ?? 0;
  return html`<div class="sidebar">
    <header class="server-head" onContextMenu=${openServerMenu}>
      <img src=${info.value?.iconUrl ?? "/web/icon.svg"} alt="" width="32" height="32" />
      <${ServerMenu} />
      ${
        reports > 0 &&
        html`<${IconButton}
          icon="flag"
          label=${t("reports-waiting", { count: reports })}
          class="urgent"
          onClick=${() => showDialog("settings", { page: "reports" })}
        />`
      }
      ${
        hasPermission("create_invites") &&
        html`<${IconButton}
          icon="invite"
          label=${t("invite-people")}
          onClick=${() => showDialog("invite")}
        />`
      }
    </header>
    <button type="button" class="find" aria-keyshortcuts="Control+K" onClick=${() => showDialog("switcher")}>
      <${Icon} name="go" /> <span>${t("switcher-open")}</span>
      <kbd class="key-hint" aria-hidden="true">${t("switcher-keys")}</kbd>
    </button>
    <${Connection} />
    <${ChannelList} />
    <${CallBar} />
    <${OwnCorner} />
  </div>`;
}

/** Describe the connection problem. Return "" if there is none. */
export const troubleWithServer = () =>
  /** @type {{[how: string]: string}} */ ({ offline: t("reconnecting"), crowded: t("crowded") })[
    connection.value
  ] ?? "";

/** A message that is shown while the server is unreachable or the user has too many connections. */
function Connection() {
  const words = troubleWithServer();
  return html`<p id="text-state" class=${words ? "connection" : "connection quiet-empty"} role="status">
    ${words}
  </p>`;
}

export function DrawerButton() {
  const mentions = totals.value.mentions + privateUnread.value + elsewhere.value.mentions;
  const count = mentions || totals.value.unread + elsewhere.value.unread;
  return html`<${IconButton}
    icon="menu"
    label=${t("show-channels")}
    aria-description=${count ? t("unread-count", { count }) : undefined}
    class=${`only-small ${count ? "with-news" : ""} ${mentions ? "mentioned" : ""}`}
    onClick=${() => {
      drawer.value = true;
    }}
  />`;
}

export function InboxButton() {
  const inThreads = [...threads.value.values()].reduce((sum, { mentions }) => sum + mentions, 0);
  const count = totals.value.mentions + inThreads;
  const label = count ? `${t("inbox")}, ${t("mention-count", { count })}` : t("inbox");
  return html`<${IconButton}
    icon="mentions"
    label=${label}
    class=${count ? "with-news mentioned" : ""}
    aria-pressed=${sidePanel.value?.name === "inbox"}
    onClick=${() => toggleSidePanel("inbox")}
  />`;
}
