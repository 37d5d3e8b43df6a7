// Shows the server's health: problems first, with advice, then versions and connected members.

/** @import { ResponseBody } from "../../types/wire.js" */
/** @import { IconName } from "../parts/icon.js" */

import { health } from "../../state/admin/server_operation.js";
import { memberOf } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { problemOf } from "../../state/admin/management_requests.js";
import { html } from "../../vendor/preact.js";
import { bytesOf, knows, t } from "../../words/words.js";
import { Avatar, BotSign } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Time } from "../parts/time.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";
import { Reach } from "./invite_dialog.js";

const ORDER = ["problem", "notice", "ok"];
/** @type {{[verdict: string]: IconName}} */
const SIGNS = { problem: "close", notice: "flag", ok: "check" };

/** @typedef {ResponseBody<"GET", "/api/health">} Health */

export function HealthPage() {
  const { value, problem, again } = useResponse(health);
  // Omit the URL check if its problem is already shown above.
  const sorted = value?.checks
    .filter(({ check }) => check !== "address" || !problemOf(location))
    .sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  return html`
    <${Reach} />
    <${ListPage}
      label=${t("settings-health")}
      items=${sorted ?? null}
      problem=${problem}
      again=${again}
      empty=""
      row=${(/** @type {Health["checks"][number]} */ check) =>
        html`<${Finding} key=${check.check} finding=${check} />`}
    />
    ${
      value &&
      html`
        <p class="quiet">${t("health-doctor")}</p>
        <p><${Button} onClick=${again}>${t("health-again")}<//></p>
        <h4>${t("health-versions")}</h4>
        <p>
          svc ${value.versions.server} · Python ${value.versions.python} · SQLite ${value.versions.sqlite}
        </p>
        <p class="quiet">${t("health-since")} <${Time} ms=${value.started_at_ms} style="long" /></p>
        <h4>${t("health-connected", { count: value.connected_members })}</h4>
        <p class="quiet">${t("health-in-calls", { count: value.in_calls })}</p>
        <${ListPage}
          label=${t("health-connected", { count: value.connected_members })}
          items=${value.connected}
          empty=""
          row=${(/** @type {Health["connected"][number]} */ connection) =>
            html`<${Connected} key=${connection.member_id} connection=${connection} />`}
        />
      `
    }
  `;
}

/** @param {{finding: Health["checks"][number]}} props */
function Finding({ finding: { check, verdict, state, bytes = 0, waiting = 0 } }) {
  const key = `${check}-${state.replaceAll("_", "-")}`;
  const advice = verdict !== "ok" && knows(`health-do-${key}`) && t(`health-do-${key}`);
  return html`<${Row}
    data-verdict=${verdict}
    sign=${html`<${Icon} name=${SIGNS[verdict]} />`}
    text=${advice || null}
    title=${html`
      <span class="unseen">${t(`health-${verdict}`)}: </span>
      ${t(`health-is-${key}`, { free: bytesOf(bytes), count: waiting })}
    `}
  />`;
}

/** @param {{connection: Health["connected"][number]}} props */
function Connected({ connection: { member_id: id, pages } }) {
  const member = memberOf(id);
  const name = member?.nickname ?? t("somebody");
  return html`<${Row}
    sign=${html`<${Avatar} id=${id} name=${name} url=${member?.avatar} size="small" />`}
    text=${t("health-pages", { count: pages })}
    title=${html`
      <button type="button" class="plain" dir="auto" onClick=${() => showDialog("profile", { memberId: id })}>
        ${name}
      </button>
      <${BotSign} bot=${member?.bot} />
    `}
  />`;
}
