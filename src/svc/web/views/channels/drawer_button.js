// The phone's button for the list of channels. A dot shows that the list has something unread.

import { drawer } from "../../state/navigation.js";
import { privateUnread } from "../../state/private_conversations.js";
import { totals } from "../../state/unread_counts.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";

export function DrawerButton() {
  const count = totals.value.mentions + privateUnread.value;
  return html`<${IconButton}
    icon="menu"
    label=${t("show-channels")}
    aria-description=${count ? t("unread-count", { count }) : undefined}
    class=${`only-small ${count ? "with-news" : ""}`}
    onClick=${() => {
      drawer.value = true;
    }}
  />`;
}
