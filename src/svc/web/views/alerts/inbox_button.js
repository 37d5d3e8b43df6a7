// The inbox button, with the number of new mentions.

import { beside, toggleAside } from "../../state/navigation.js";
import { threads } from "../../state/threads.js";
import { totals } from "../../state/unread_counts.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";

export function InboxButton() {
  const inThreads = [...threads.value.values()].reduce((sum, { mentions }) => sum + mentions, 0);
  const count = totals.value.mentions + inThreads;
  const label = count ? `${t("inbox")}, ${t("mention-count", { count })}` : t("inbox");
  return html`<${IconButton}
    icon="inbox"
    label=${label}
    class=${count ? "with-news" : ""}
    aria-pressed=${beside.value?.name === "inbox"}
    onClick=${() => toggleAside("inbox")}
  />`;
}
