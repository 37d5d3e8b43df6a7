// What members have reported: in the settings, with what it is about and what can be done at once.

import { acts } from "../../state/conversation.js";
import { channelsById, may } from "../../state/channels.js";
import { loadReports, messageOf, openReports, resolvedReports, resolveReport } from "../../state/managing/reports.js";
import { tried } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { closeDialogs, open } from "../../state/place.js";
import { html, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { quoted } from "../conversation/message.js";
import { Button } from "../parts/button.js";
import { Time } from "../parts/time.js";
import { MemberMenu } from "./member_menu.js";
import { useAnswer } from "./parts/asking.js";
import { ListPage } from "./parts/list_page.js";

export function ReportsPage() {
  const [done, setDone] = useState(false);
  const { problem, again } = useAnswer(loadReports);
  return html`<${ListPage} label=${t("settings-reports")} about=${t("reports-about")} items=${openReports.value} problem=${problem} again=${again} empty=${t("no-reports")}
      row=${(report) => html`<${OneReport} key=${report.id} report=${report} />`} />
    ${done ? html`<h4>${t("reports-done")}</h4><${Done} />` : html`<p><${Button} look="link" onClick=${() => setDone(true)}>${t("reports-show-done")}<//></p>`}`;
}

function Done() {
  const { value, problem, again } = useAnswer(() => resolvedReports().then(({ reports }) => reports));
  return html`<${ListPage} label=${t("reports-done")} items=${value} problem=${problem} again=${again} empty=${t("no-reports-done")} row=${(report) => html`<${OneReport} key=${report.id} report=${report} />`} />`;
}

const nameOf = (id) => memberOf(id)?.nickname ?? t("somebody");

function OneReport({ report }) {
  const { id, reporter_id: reporter, member_id: about, channel_id: channelId, text, created_at_ms: at, resolved_by: by, note } = report;
  const member = memberOf(about);
  return html`<li class="managed-row report">
    <div class="managed-words">
      <small class="quiet" dir="auto">${t("report-by", { reporter: nameOf(reporter), name: nameOf(about) })} · <${Time} ms=${at} style="whole" /></small>
      <span dir="auto">${text}</span>
      ${channelId && html`<${Reported} report=${report} />`}
      ${by && html`<small class="quiet" dir="auto">${t("report-resolved-by", { name: nameOf(by) })} ${note}</small>`}
    </div>
    <span class="managed-acts">
      ${member && html`<${MemberMenu} member=${member} />`}
      ${!by && html`<${Button} look="primary" onClick=${() => tried(resolveReport(id))}>${t("report-resolve")}<//>`}
    </span>
  </li>`;
}

/** The message that it is about: gone to, or deleted. */
function Reported({ report }) {
  const { value: message, problem, set } = useAnswer(() => messageOf(report).catch((error) => ({ gone: explain(error) })), [report.id]);
  const { channel_id: channelId, message_id: messageId } = report;
  if (problem || !message) return null;
  if (message.gone) return html`<small class="quiet">${message.gone}</small>`;
  const go = () => {
    closeDialogs();
    open(channelId, messageId);
  };
  const remove = async () => { if (await tried(acts.remove(message))) set({ gone: t("message-gone") }); };
  return html`<blockquote dir="auto"><b>${message.author.display_name}</b> ${quoted(message)}</blockquote>
    <span class="managed-acts"><${Button} onClick=${go}>${t("go-to-message")}<//><small class="quiet" dir="auto">${channelsById.value.get(channelId)?.name}</small>
    ${may("manage_messages", channelId) && html`<${Button} look="danger" onClick=${remove}>${t("delete-message")}<//>`}</span>`;
}
