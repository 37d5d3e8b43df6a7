// Shows a channel's settings (overview and permissions) and confirms its deletion.

import { deleteChannel } from "../../state/admin/channels.js";
import { channelsById } from "../../state/channels.js";
import { html, useState } from "../../vendor/preact.js";
import { ChannelOverview } from "./channel_overview.js";
import { Overrides } from "./overrides.js";
import { TypedConfirm } from "./parts/form_request.js";
import { Dialog } from "../parts/dialog.js";
import { moveAmong } from "../parts/menu.js";
import { t } from "../../words/words.js";

const PAGES = [
  { name: "overview", Page: ChannelOverview },
  { name: "permissions", Page: Overrides },
];

/** @param {{channelId: string, page?: string, onClose: () => void}} props */
export function ChannelSettings({ channelId, page = "overview", onClose }) {
  const [open, setOpen] = useState(page);
  const channel = channelsById.value.get(channelId);
  if (!channel)
    return html`<${Dialog} title=${t("channel-settings")} onClose=${onClose}>
      <p class="quiet">${t("channel-gone")}</p>
    <//>`;
  const { Page, name } = PAGES.find((page) => page.name === open) ?? PAGES[0];
  const move = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) =>
    moveAmong(event, [...event.currentTarget.querySelectorAll("button")]);
  return html`<${Dialog}
    title=${t("settings-of", { name: channel.name })}
    onClose=${onClose}
    wide
    class="settings"
  >
    <div class="settings-pages">
      <nav aria-label=${t("settings-pages")} onKeyDown=${move}>
        <ul>${PAGES.map(
          (page) => html`<li key=${page.name}>
            <button
              type="button"
              aria-current=${page.name === name ? "page" : undefined}
              onClick=${() => setOpen(page.name)}
            >
              ${t(`channel-page-${page.name}`)}
            </button>
          </li>`,
        )}</ul>
      </nav>
      <section aria-label=${t(`channel-page-${name}`)} class="settings-page" tabindex="-1">
        <h3>${t(`channel-page-${name}`)}</h3>
        <${Page} key=${name} channel=${channel} onClose=${onClose} />
      </section>
    </div>
  <//>`;
}

/** @param {{channelId: string, onClose: () => void}} props */
export function DeleteChannel({ channelId, onClose }) {
  const channel = channelsById.value.get(channelId);
  if (!channel) return null;
  const text = channel.type === "category" ? t("category-delete-text") : t("channel-delete-text");
  return html`<${TypedConfirm}
    title=${t("channel-delete-title", { name: channel.name })}
    text=${text}
    name=${channel.name}
    action=${t("channel-delete")}
    onConfirm=${() => deleteChannel(channelId)}
    onClose=${onClose}
  />`;
}
