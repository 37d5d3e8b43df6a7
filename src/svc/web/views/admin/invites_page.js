// Lists the invite links and the applicants who are waiting to be admitted.

/** @import { Application, Invite } from "../../types/api.js" */

import { hasPermission } from "../../state/channels.js";
import { timesChanged } from "../../state/admin/change_counters.js";
import {
  addressOfInvite,
  applications,
  approve,
  cameBy,
  invites,
  refuse,
  revokeInvite,
} from "../../state/admin/members.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf, rolesById, roleName } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { html, useState } from "../../vendor/preact.js";
import { formatList, t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { copy } from "../parts/copy_field.js";
import { Confirm } from "../parts/dialog.js";
import { Time } from "../parts/time.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";

export function InvitesPage() {
  const { value, problem, again } = useResponse(invites, [timesChanged("invites")]);
  const [ending, setEnding] = useState(/** @type {Invite | null} */ (null));
  const revoke = async () => {
    if (ending && (await tryOrNotify(revokeInvite(ending.id)))) again();
  };
  return html`
    ${hasPermission("manage_invites") && html`<${Waiting} />`}
    <${ListPage}
      label=${t("settings-invites")}
      about=${hasPermission("manage_invites") ? t("invites-all-about") : t("invites-own-about")}
      items=${value}
      problem=${problem}
      again=${again}
      empty=${t("no-invites")}
      row=${(/** @type {Invite} */ invite) =>
        html`<${Link}
          key=${`${invite.id} ${invite.uses}`}
          invite=${invite}
          onRevoke=${() => setEnding(invite)}
        />`}
    >
      ${
        hasPermission("create_invites") &&
        html`<p>
          <${Button} look="primary" icon="add" onClick=${() => showDialog("invite")}>${t("invite-people")}<//>
        </p>`
      }
    <//>
    ${
      ending &&
      html`<${Confirm}
        title=${t("revoke-title")}
        text=${t("revoke-text")}
        action=${t("revoke")}
        onConfirm=${revoke}
        onClose=${() => setEnding(null)}
      />`
    }
  `;
}

/** @param {{invite: Invite, onRevoke: () => void}} props */
function Link({ invite, onRevoke }) {
  const {
    code,
    created_by: maker,
    role_id: roleId,
    max_uses: maxUses,
    uses,
    expires_at_ms: endsAt,
    approval,
  } = invite;
  const [came, setCame] = useState(/** @type {{nickname: string}[] | null} */ (null));
  const role = rolesById.value.get(roleId);
  const facts = [
    maker ? t("invite-by", { name: memberOf(maker)?.nickname ?? t("somebody") }) : t("invite-by-operator"),
    role && roleId !== "member" && roleName(role),
    maxUses ? t("invite-used-of", { uses, most: maxUses }) : t("invite-used", { uses }),
    approval && t("invite-with-approval"),
  ]
    .filter(Boolean)
    .join(" · ");
  const text = html`
    ${facts} · ${
      endsAt ? html`${t("invite-until")} <${Time} ms=${endsAt} style="long" />` : t("invite-forever")
    }
    ${
      came &&
      html`
        <br />
        ${
          came.length
            ? t("invite-joined", { names: formatList(came.map(({ nickname }) => nickname)) })
            : t("invite-joined-none")
        }
      `
    }
  `;
  return html`<${Row} title=${code} text=${text}>
    ${
      uses > 0 &&
      came === null &&
      html`<${IconButton}
        icon="people"
        label=${t("invite-joined-show")}
        onClick=${() => tryOrNotify(cameBy(invite.id).then(setCame))}
      />`
    }
    <${IconButton}
      icon="copy"
      label=${t("copy-invite")}
      onClick=${() => copy(addressOfInvite(invite), t("invite-copied"))}
    />
    <${IconButton}
      icon="squares"
      label=${t("invite-code-for-phones")}
      onClick=${() => showDialog("invite", { invite })}
    />
    <${IconButton} icon="trash" label=${t("revoke-invite", { code })} onClick=${onRevoke} />
  <//>`;
}

/** The pending applications to join. Renders nothing if there are none. */
function Waiting() {
  const { value, problem, again } = useResponse(applications, [timesChanged("applications")]);
  if (!value?.length && !problem) return null;
  const decide = async (/** @type {Promise<unknown>} */ promise) => {
    if (await tryOrNotify(promise)) again();
  };
  return html`
    <h4>${t("applications")}</h4>
    <${ListPage}
      label=${t("applications")}
      items=${value}
      problem=${problem}
      again=${again}
      row=${(
        /** @type {Application} */ { id, nickname, message },
      ) => html`<${Row} key=${id} title=${nickname} text=${message}>
        <${Button} look="primary" onClick=${() => decide(approve(id))}>${t("application-approve")}<//>
        <${Button} onClick=${() => decide(refuse(id))}>${t("application-refuse")}<//>
      <//>`}
    />
  `;
}
