// Shows the server rail, with this server and the member's other servers, if there are any. A click is an
// ordinary navigation without a referrer. See docs/servers.md.

/** @import { OtherServer } from "../../state/other_servers.js" */

import { callState } from "../../call/current_call.js";
import { takeMessage } from "../../state/linked_accounts.js";
import { showDialog } from "../../state/navigation.js";
import { addressOf, counts, hostOf, servers, startOtherServers } from "../../state/other_servers.js";
import { info, member } from "../../state/server.js";
import { shortCount } from "../../state/unread_counts.js";
import { h, html, render } from "../../vendor/preact.js";
import { effect, signal } from "../../vendor/signals.js";
import { t } from "../../words/words.js";
import { hue, initials } from "../parts/avatar.js";
import { IconButton } from "../parts/button.js";

const PORT = /:\d+$/;

/** Start showing the rail. It is hidden while there are no other servers. */
export function startRail() {
  const isVisible = signal(document.visibilityState === "visible");
  document.addEventListener("visibilitychange", () => {
    isVisible.value = document.visibilityState === "visible";
  });
  startOtherServers(isVisible);
  // Handle a message about a linked account from another server's page, now that the list of servers is
  // loaded.
  effect(() => {
    const message = member.value && takeMessage();
    if (message) showDialog("link-accounts", { message });
  });
  const container = Object.assign(document.createElement("div"), { id: "rail" });
  document.body.prepend(container);
  render(h(Rail, null), container);
}

function Rail() {
  if (!member.value || !servers.value.length) return null;
  const name = info.value?.name || t("this-server");
  return html`<nav class="rail" aria-label=${t("settings-servers")}>
    <ul>
      <li>
        <a href="#" aria-current="page" aria-label=${name} title=${name} onClick=${stay}>
          <img src=${info.value?.iconUrl ?? "/web/icon.svg"} alt="" />
        </a>
      </li>
      ${servers.value.map((server) => html`<${Entry} key=${server.origin} server=${server} />`)}
    </ul>
    <${IconButton}
      icon="add"
      label=${t("servers-manage")}
      onClick=${() => showDialog("settings", { page: "servers" })}
    />
  </nav>`;
}

/** Ignore clicks on the link to this server. @param {Event} event */
const stay = (event) => event.preventDefault();

/** @param {{server: OtherServer}} props */
function Entry({ server }) {
  const { origin, name } = server;
  const { unread = 0, mentions = 0 } = counts.value[origin] ?? {};
  const news = mentions
    ? t("servers-mentions", { count: mentions })
    : unread
      ? t("servers-unread", { count: unread })
      : "";
  // Always show the host, because a server can choose any name and icon.
  const text = [name, name === hostOf(origin) ? "" : hostOf(origin), news].filter(Boolean).join(" · ");
  // During a call, open a new tab, because leaving this page would end the call.
  const target = callState.value === "none" ? "_self" : "_blank";
  return html`<li class=${mentions ? "unread mentioned" : unread ? "unread" : ""}>
    <a
      href=${addressOf(origin)}
      target=${target}
      rel="noopener noreferrer"
      referrerpolicy="no-referrer"
      aria-label=${text}
      title=${text}
    >
      <${Face} server=${server} />
    </a>
    ${unread + mentions > 0 && html`<span class="badge" aria-hidden="true">${shortCount(mentions)}</span>`}
  </li>`;
}

/**
 * A server's icon or, hidden from screen readers, its initials.
 * @param {{server: OtherServer}} props
 */
export function Face({ server: { origin, name, picture } }) {
  return picture
    ? html`<img src=${picture} alt="" />`
    : html`<span
        class="face"
        aria-hidden="true"
        style=${{ "--hue": hue(origin) }}
        data-initials=${initials(name.replace(PORT, ""))}
      ></span>`;
}
