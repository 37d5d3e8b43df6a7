// The sidebar: the server, its channels, the ongoing call and our own profile.

import { may } from "../../state/channels.js";
import { openReports } from "../../state/admin/reports.js";
import { showDialog } from "../../state/navigation.js";
import { connection, info } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { CallBar } from "../call/call_bar.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { OwnCorner } from "../people/own_profile.js";
import { ChannelList } from "./channel_list.js";
import { openServerMenu, ServerMenu } from "./server_menu.js";

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
        may("create_invites") &&
        html`<${IconButton}
          icon="invite"
          label=${t("invite-people")}
          onClick=${() => showDialog("invite")}
        />`
      }
    </header>
    <button type="button" class="find" aria-keyshortcuts="Control+K" onClick=${() => showDialog("switcher")}>
      <${Icon} name="search" /> <span>${t("switcher-open")}</span>
      <kbd class="key-hint" aria-hidden="true">${t("switcher-keys")}</kbd>
    </button>
    <${Connection} />
    <${ChannelList} />
    <${CallBar} />
    <${OwnCorner} />
  </div>`;
}

/** Return a description of the problem with the connection; "" if there is none. */
export const troubleWithServer = () =>
  /** @type {{[how: string]: string}} */ ({ offline: t("reconnecting"), crowded: t("crowded") })[
    connection.value
  ] ?? "";

/** A message while the server cannot be reached, temporarily or permanently. */
function Connection() {
  const words = troubleWithServer();
  return html`<p id="text-state" class=${words ? "connection" : "connection quiet-empty"} role="status">
    ${words}
  </p>`;
}
