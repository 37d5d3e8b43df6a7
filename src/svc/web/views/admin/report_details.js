// Shows one report: its reporter, subject and reason, the reported message with its context, and moderation
// actions.

/** @import { Report } from "../../types/api.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { acts } from "../../state/message_actions.js";
import { channelsById, hasPermission } from "../../state/channels.js";
import { timeOut } from "../../state/admin/moderation.js";
import { ranksBelow } from "../../state/admin/role_rank.js";
import { around, messageOf, resolveReport } from "../../state/admin/reports.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { closeDialogs, open } from "../../state/navigation.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Skeletons } from "../parts/skeletons.js";
import { explain, t } from "../../words/words.js";
import { quoted } from "../conversation/message.js";
import { Button } from "../parts/button.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { formatDuration, Time } from "../parts/time.js";
import { MemberMenu } from "./member_menu.js";
import { useResponse } from "./parts/form_request.js";

const AT_ONCE_S = 3600;
/** @param {string | null} id */
export const nameOf = (id) => (id && memberOf(id)?.nickname) || t("somebody");
/** Return the name of the reported member or webhook. @param {Report} report */
export const subjectNameOf = ({ member_id: about, webhook }) =>
  webhook ? t("report-webhook", { name: webhook.name }) : nameOf(about);

/** @param {{report: Report}} props */
export function OneReport({ report }) {
  const {
    member_id: about,
    message_id: messageId,
    channel_id: channelId,
    created_at_ms: at,
    resolved_by: by,
    note,
    private: revealed,
    text,
  } = report;
  const [noting, setNoting] = useState(false);
  const member = about ? memberOf(about) : undefined;
  const channel = channelsById.value.get(channelId ?? "");
  const time = () =>
    about &&
    tryOrNotify(timeOut(about, AT_ONCE_S, saidBy(report))).then(
      (done) => done && notify(t("moderate-timeout-done", { name: nameOf(about) }), "done"),
    );
  return html`<li class="managed-row report">
    <div class="managed-words">
      <small class="quiet" dir="auto">
        ${saidBy(report)}${channel && ` · #${channel.name}`} · <${Time} ms=${at} style="long" />
      </small>
      ${text && html`<span dir="auto">${report.reporter_id ? text : html`<mark>${text}</mark>`}</span>`}
      ${messageId && html`<${Reported} report=${report} />`}
      ${revealed && html`<${Revealed} report=${report} revealed=${revealed} />`}
      ${
        by &&
        html`<small class="quiet" dir="auto">${t("report-resolved-by", { name: nameOf(by) })} ${note}</small>`
      }
    </div>
    <span class="managed-acts">
      ${member && html`<${MemberMenu} member=${member} />`}
      ${
        !by &&
        member &&
        ranksBelow(member) &&
        hasPermission("timeout_members") &&
        html`<${Button} onClick=${time}>${t("report-timeout", { time: formatDuration(AT_ONCE_S) })}<//>`
      }
      ${
        !by &&
        html`<${Button} aria-expanded=${noting} onClick=${() => setNoting(!noting)}>${t("report-note")}<//>`
      }
      ${
        !by &&
        !noting &&
        html`<${Button} look="primary" onClick=${() => tryOrNotify(resolveReport(report.id))}>
          ${t("report-resolve")}
        <//>`
      }
    </span>
    ${noting && html`<${Noting} id=${report.id} />`}
  </li>`;
}

/** @param {Report} report */
function saidBy(report) {
  const { reporter_id: reporter, rule, message_id: messageId } = report;
  const name = subjectNameOf(report);
  if (reporter) return t("report-by", { reporter: nameOf(reporter), name });
  if (rule === null) return t("report-by-bad-words", { name });
  return messageId ? t("report-by-rule", { rule, name }) : t("report-by-rule-out", { rule, name });
}

/**
 * A private message that its recipient disclosed.
 * @param {{report: Report, revealed: NonNullable<Report["private"]>}} props
 */
function Revealed({ report, revealed: { sent_at_ms: at, text, files } }) {
  const name = subjectNameOf(report);
  return html`
    <blockquote dir="auto">
      <b>${name}</b> ${text}
      ${files.map(
        (file, number) => html`<br key=${number} /><span>${t("report-private-file", { name: file })}</span>`,
      )}
    </blockquote>
    <small class="quiet verified" dir="auto">
      <${Icon} name="check" /> ${t("report-private-verified", { name })} <${Time} ms=${at} style="long" />
    </small>
  `;
}

/** @param {{id: string}} props */
function Noting({ id }) {
  const [note, setNote] = useState("");
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    tryOrNotify(resolveReport(id, note.trim()));
  };
  /** @type {RefObject<HTMLElement>} */
  const form = useRef(null);
  useLayoutEffect(() => form.current.querySelector("input")?.focus(), []);
  return html`<form class="row-form noting" onSubmit=${submit} ref=${form}>
    <${Field}
      label=${t("report-note-what")}
      value=${note}
      maxlength="500"
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setNote(event.currentTarget.value)}
      autocomplete="off"
    />
    <${Button} look="primary" type="submit">${t("report-resolve")}<//>
  </form>`;
}

/** The reported message, with buttons to go to it and to delete it. @param {{report: Report}} props */
function Reported({ report }) {
  const {
    value: message,
    problem,
    set,
  } = useResponse(() => messageOf(report).catch((error) => ({ gone: explain(error) })), [report.id]);
  const [wide, setWide] = useState(false);
  const { channel_id: channelId } = report;
  if (problem || !message) return null;
  if ("gone" in message) return html`<small class="quiet">${message.gone}</small>`;
  const go = () => {
    closeDialogs();
    open(message.channel_id, message.id);
  };
  const remove = async () => {
    if (await tryOrNotify(acts.remove(message))) set({ gone: t("message-gone") });
  };
  return html`
    ${
      wide
        ? html`<${Around} report=${report} />`
        : html`<blockquote dir="auto"><b>${message.author.display_name}</b> ${quoted(message)}</blockquote>`
    }
    <span class="managed-acts">
      <${Button} onClick=${go}>${t("go-to-message")}<//>
      <${Button} aria-expanded=${wide} onClick=${() => setWide(!wide)}>${t("report-around")}<//>
      ${
        hasPermission("manage_messages", channelId) &&
        html`<${Button} look="danger" onClick=${remove}>${t("delete-message")}<//>`
      }
    </span>
  `;
}

/** The messages immediately before and after the reported message. @param {{report: Report}} props */
function Around({ report }) {
  const { value: messages, problem, again } = useResponse(() => around(report), [report.id]);
  if (problem)
    return html`<p class="error" role="alert">
      ${problem} <${Button} look="link" onClick=${again}>${t("try-again")}<//>
    </p>`;
  if (!messages) return html`<${Skeletons} rows=${3} />`;
  return html`<blockquote class="around">
    ${messages.map(
      (message) =>
        html`<p
          key=${message.id}
          dir="auto"
          aria-current=${message.id === report.message_id ? "true" : undefined}
        >
          <b>${message.author.display_name}</b> ${quoted(message)}
        </p>`,
    )}
  </blockquote>`;
}
