// Lists open and resolved reports, from members and from automod rules, in the settings.

/** @import { Report } from "../../types/api.js" */

import { loadReports, openReports, resolvedElsewhere, resolvedReports } from "../../state/admin/reports.js";
import { notify } from "../../state/notices.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { nameOf, OneReport, subjectNameOf } from "./report_details.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage } from "./parts/list_page.js";

export function ReportsPage() {
  const [done, setDone] = useState(false);
  const { problem, again } = useResponse(loadReports);
  const elsewhere = resolvedElsewhere.value;
  const before = useRef(elsewhere);
  // Notify the moderator when somebody else resolves the open report, because the report then disappears.
  useEffect(() => {
    if (elsewhere && elsewhere !== before.current)
      notify(
        t("report-resolved-elsewhere", { who: nameOf(elsewhere.by), name: subjectNameOf(elsewhere.report) }),
        "done",
      );
    before.current = elsewhere;
  }, [elsewhere]);
  return html`
    <${ListPage}
      label=${t("settings-reports")}
      about=${t("reports-about")}
      items=${openReports.value}
      problem=${problem}
      again=${again}
      empty=${t("no-reports")}
      row=${(/** @type {Report} */ report) => html`<${OneReport} key=${report.id} report=${report} />`}
    />
    ${
      done
        ? html`<h4>${t("reports-done")}</h4><${Done} />`
        : html`<p><${Button} look="link" onClick=${() => setDone(true)}>${t("reports-show-done")}<//></p>`
    }
  `;
}

function Done() {
  const { value, problem, again } = useResponse(() => resolvedReports().then(({ reports }) => reports));
  return html`<${ListPage}
    label=${t("reports-done")}
    items=${value}
    problem=${problem}
    again=${again}
    empty=${t("no-reports-done")}
    row=${(/** @type {Report} */ report) => html`<${OneReport} key=${report.id} report=${report} />`}
  />`;
}
