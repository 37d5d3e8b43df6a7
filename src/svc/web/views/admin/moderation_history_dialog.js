// Shows the moderation history of one member.

/** @import { AuditEntry } from "../../types/api.js" */

import { historyOf } from "../../state/admin/moderation.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Dialog } from "../parts/dialog.js";
import { dateOf } from "../parts/time.js";
import { Entry } from "./audit_words.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage } from "./parts/list_page.js";

/** @param {{memberId: string, onClose: () => void}} props */
export function ModerationHistory({ memberId, onClose }) {
  const [name, setName] = useState(memberOf(memberId)?.nickname ?? t("somebody"));
  return html`<${Dialog} title=${t("history-title", { name })} onClose=${onClose}>
    <${History} memberId=${memberId} onName=${setName} />
  <//>`;
}

/**
 * The history, also used on the profile. `onName` receives the member's name, even if the member has left.
 * @param {{memberId: string, onName?: (name: string) => void}} props
 */
export function History({ memberId, onName }) {
  const { value, problem, set, again } = useResponse(() => historyOf(memberId), [memberId]);
  useEffect(() => {
    if (value) onName?.(value.nickname);
  }, [value]);
  const further = () =>
    value &&
    tryOrNotify(
      historyOf(memberId, value.next).then((page) =>
        set({ ...page, entries: [...value.entries, ...page.entries] }),
      ),
    );
  const inviter = value?.invitation?.invited_by;
  return html`
    ${
      value &&
      html`<p class="quiet" dir="auto">
        ${t("joined-on", { date: dateOf(value.joined_at_ms) })}
        ${inviter && ` · ${t("invited-by", { name: memberOf(inviter)?.nickname ?? t("somebody") })}`} · ${t(
          "history-reports",
          { open: value.reports.open, resolved: value.reports.resolved },
        )}
        ${value.banned && html` · <span class="error">${t("is-banned")}</span>`}
      </p>`
    }
    <${ListPage}
      label=${t("moderation-history")}
      items=${value?.entries ?? null}
      problem=${problem}
      again=${again}
      empty=${t("no-history")}
      more=${value?.next && further}
      row=${(/** @type {AuditEntry} */ entry) => html`<${Entry} key=${entry.id} entry=${entry} />`}
    />
  `;
}
