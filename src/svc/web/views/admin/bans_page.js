// Lists the banned accounts, with buttons to unban them.

/** @import { Ban } from "../../types/api.js" */

import { timesChanged } from "../../state/admin/change_counters.js";
import { bans, unban } from "../../state/admin/moderation.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { dateOf } from "../parts/time.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";

export function BansPage() {
  const { value, problem, set, again } = useResponse(bans, [timesChanged("bans")]);
  const [lifting, setLifting] = useState(/** @type {Ban | null} */ (null));
  const [reason, setReason] = useState("");
  const lift = async () => {
    if (!lifting) return;
    const { member_id: id, nickname: name } = lifting;
    if (await tryOrNotify(unban(id, reason.trim()))) notify(t("unbanned", { name }), "done");
    // Reload even after a failure, because another moderator may have lifted the ban first.
    again();
  };
  const further = () =>
    value &&
    tryOrNotify(
      bans(value.next).then((page) => set({ bans: [...value.bans, ...page.bans], next: page.next })),
    );
  return html`
    <${ListPage}
      label=${t("settings-bans")}
      about=${t("bans-about")}
      items=${value?.bans ?? null}
      problem=${problem}
      again=${again}
      empty=${t("no-bans")}
      more=${value?.next && further}
      row=${(/** @type {Ban} */ ban) => html`<${Row}
        key=${ban.member_id}
        title=${ban.nickname}
        text=${summary(ban)}
        sign=${html`<${Avatar} id=${ban.member_id} name=${ban.nickname} size="small" />`}
      >
        <${Button} onClick=${() => {
          setReason("");
          setLifting(ban);
        }}>
          ${t("unban")}
        <//>
      <//>`}
    />
    ${
      lifting &&
      html`<${Confirm}
        title=${t("unban-title", { name: lifting.nickname })}
        text=${t("unban-text")}
        action=${t("unban")}
        onConfirm=${lift}
        onClose=${() => setLifting(null)}
      >
        <${Field}
          label=${t("reason")}
          hint=${t("reason-hint")}
          value=${reason}
          maxlength="500"
          onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setReason(event.currentTarget.value)}
          autocomplete="off"
        />
      <//>`
    }
  `;
}

/** @param {Ban} ban */
const summary = ({ reason, banned_at_ms: at }) => [dateOf(at), reason || t("no-reason")].join(" · ");
