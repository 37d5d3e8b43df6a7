// Shows how much storage files use, by purpose and by member, and sets how long files are kept.

/** @import { ResponseBody } from "../../types/wire.js" */
/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { changeSettings, settings } from "../../state/admin/management_requests.js";
import { keepsLess, storage } from "../../state/admin/server_operation.js";
import { tryOrNotify } from "../../state/notices.js";
import { showDialog } from "../../state/navigation.js";
import { html, useState } from "../../vendor/preact.js";
import { Skeletons } from "../parts/skeletons.js";
import { bytesOf, t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { formatDuration } from "../parts/time.js";
import { Among } from "./channel_overview.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";

const OFFERED_DAYS = [0, 7, 30, 90, 180, 365, 730];
const DAY_S = 86400;
const KINDS = ["message", "member", "webhook", "emoji", "draft", "job", "server", "private", "unused"];

/**
 * @typedef {ResponseBody<"GET", "/api/storage">} StorageUse The total for all other members has no
 *   `member_id`.
 * @typedef {{member_id: string, nickname: string, bytes: number} | {member_id: null, nickname?: undefined,
 *   bytes: number}} Holder
 */

export function StoragePage() {
  const { value, problem, again } = useResponse(storage);
  if (problem)
    return html`<p class="error" role="alert">
      ${problem} <${Button} look="link" onClick=${again}>${t("try-again")}<//>
    </p>`;
  if (!value) return html`<${Skeletons} rows=${3} />`;
  const {
    bytes,
    limit_bytes: limit,
    by_kind: kinds,
    by_member: holders,
    others_bytes: others,
    database_bytes: database,
    disk_free_bytes: free,
    limit_of_one_bytes: limitOfOne,
  } = value;
  const largest = Math.max(1, ...kinds.map((kind) => kind.bytes));
  const largestBytes = Math.max(1, others, ...holders.map((holder) => holder.bytes));
  return html`
    <section class="stack">
      <p>${t("storage-used", { used: bytesOf(bytes), limit: bytesOf(limit) })}</p>
      <${Bar}
        part=${bytes / limit}
        label=${t("storage-used", { used: bytesOf(bytes), limit: bytesOf(limit) })}
      />
      <p class="quiet">${t("storage-beside", { database: bytesOf(database), free: bytesOf(free) })}</p>
    </section>
    <${Retention} />
    <h4>${t("storage-by-kind")}</h4>
    <${ListPage}
      label=${t("storage-by-kind")}
      items=${kinds.filter((kind) => kind.bytes)}
      empty=${t("storage-empty")}
      row=${(/** @type {StorageUse["by_kind"][number]} */ { kind, objects, bytes: size }) =>
        html`<${Taken}
          key=${kind}
          title=${KINDS.includes(kind) ? t(`storage-kind-${kind}`) : kind}
          text=${t("storage-files", { count: objects })}
          bytes=${size}
          part=${size / largest}
        />`}
    />
    <h4>${t("storage-by-member")}</h4>
    <p class="quiet">${t("storage-of-one", { limit: bytesOf(limitOfOne) })}</p>
    <${ListPage}
      label=${t("storage-by-member")}
      items=${[...holders, ...(others ? [{ member_id: null, bytes: others }] : [])]}
      empty=${t("storage-empty")}
      row=${(/** @type {Holder} */ { member_id: id, nickname, bytes: size }) => html`<${Taken}
        key=${id}
        part=${size / largestBytes}
        bytes=${size}
        sign=${id && html`<${Avatar} id=${id} name=${nickname} size="small" />`}
        title=${
          id
            ? html`<button
                type="button"
                class="plain"
                dir="auto"
                onClick=${() => showDialog("profile", { memberId: id })}
              >
                ${nickname}
              </button>`
            : t("storage-others")
        }
      />`}
    />
  `;
}

/**
 * @param {{sign?: ComponentChildren, title: ComponentChildren, text?: string, bytes: number, part: number}}
 *   props
 */
function Taken({ sign, title, text, bytes, part }) {
  return html`<${Row} sign=${sign} title=${title} text=${text}>
    <${Bar} part=${part} />
    <span class="amount">${bytesOf(bytes)}</span>
  <//>`;
}

/**
 * A bar that shows a proportion. Without a label, it is hidden from screen readers, because the text next to
 * it describes it.
 * @param {{part: number, label?: string}} props
 */
function Bar({ part, label }) {
  return html`<span class="share" role=${label ? "img" : undefined} aria-label=${label} aria-hidden=${!label}>
    <span style=${{ inlineSize: `${Math.min(100, Math.max(part > 0 ? 1 : 0, part * 100))}%` }}></span>
  </span>`;
}

/** A setting for how long files are kept. A change that would delete files needs confirmation. */
function Retention() {
  const { value, set } = useResponse(settings);
  const [wanted, setWanted] = useState(/** @type {number | null} */ (null));
  const change = (/** @type {number} */ days) =>
    tryOrNotify(changeSettings({ retentionDays: days }).then(set));
  if (!value) return null;
  const words = (/** @type {number} */ days) =>
    days ? t("retention-days", { time: formatDuration(days * DAY_S) }) : t("retention-forever");
  const choose = (/** @type {number} */ days) =>
    keepsLess(value.retentionDays, days) ? setWanted(days) : change(days);
  return html`
    <${Among}
      key=${`${value.retentionDays} ${wanted}`}
      label=${t("retention")}
      hint=${t("retention-hint")}
      value=${value.retentionDays}
      all=${OFFERED_DAYS}
      words=${words}
      onChange=${choose}
    />
    ${
      wanted !== null &&
      html`<${Confirm}
        title=${t("retention-title", { time: formatDuration(wanted * DAY_S) })}
        text=${t("retention-text")}
        action=${t("retention-do")}
        onConfirm=${() => change(wanted)}
        onClose=${() => setWanted(null)}
      />`
    }
  `;
}
