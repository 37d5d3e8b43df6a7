// What moderators have done to one member.

import { historyOf } from "../../state/managing/moderation.js";
import { memberOf } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Dialog } from "../parts/dialog.js";
import { dateOf } from "../parts/time.js";
import { Entry } from "./audit_words.js";
import { useAnswer } from "./parts/asking.js";
import { ListPage } from "./parts/list_page.js";

export function ModerationHistory({ memberId, onClose }) {
  const { value, problem, again } = useAnswer(() => historyOf(memberId), [memberId]);
  const name = value?.nickname ?? memberOf(memberId)?.nickname ?? t("somebody");
  return html`<${Dialog} title=${t("history-title", { name })} onClose=${onClose}>
    ${value && html`<p class="quiet">${t("joined-on", { date: dateOf(value.joined_at_ms) })} · ${t("history-reports", { open: value.reports.open, resolved: value.reports.resolved })}${value.banned && html` · <span class="error">${t("is-banned")}</span>`}</p>`}
    <${ListPage} label=${t("moderation-history")} items=${value?.entries ?? null} problem=${problem} again=${again} empty=${t("no-history")} row=${(entry) => html`<${Entry} key=${entry.id} entry=${entry} />`} />
  <//>`;
}
