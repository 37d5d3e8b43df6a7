// Buttons in every header: the list of channels on a phone, and the inbox.

import { beside, drawer, toggleAside } from "../../state/navigation.js";
import { privateUnread } from "../../state/private_conversations.js";
import { threads } from "../../state/threads.js";
import { elsewhere, totals } from "../../state/unread_counts.js";
import { html } from "../../vendor/preact.js";
import { IconButton } from "../parts/button.js";
import { t } from "../../words/words.js";

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
    icon="inbox"
    label=${label}
    class=${count ? "with-news mentioned" : ""}
    aria-pressed=${beside.value?.name === "inbox"}
    onClick=${() => toggleAside("inbox")}
  />`;
}
