// Shows the dialog that creates an invite: first its options, such as the expiry, then the link and its QR
// code. Warns if the server's URL does not work on other computers.

/** @import { Invite } from "../../types/api.js" */

import { hasPermission, textChannels } from "../../state/channels.js";
import { addressOfInvite, createInvite } from "../../state/admin/members.js";
import { rolesBelow } from "../../state/admin/role_rank.js";
import { roleName } from "../../state/people.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { copy, Copyable } from "../parts/copy_field.js";
import { Dialog } from "../parts/dialog.js";
import { Switch } from "../parts/field.js";
import { QrCode } from "../parts/qr_code.js";
import { formatDuration } from "../parts/time.js";
import { Among } from "./channel_overview.js";
import { useFormRequest } from "./parts/form_request.js";
import { problemOf } from "../../state/admin/management_requests.js";

/**
 * @typedef {{lifetime_s: number, max_uses: number, role_id: string | null, channel_id: string | null,
 *   approval: boolean}} InviteForm
 */

const LIFETIMES_S = [1800, 3600, 43200, 86400, 604800, 2592000, 0];
const USES = [1, 5, 10, 25, 100, 0];

/** @param {{invite?: Invite | null, onClose: () => void}} props */
export function InviteDialog({ invite = null, onClose }) {
  const [made, setMade] = useState(invite);
  return html`<${Dialog} title=${t("invite-people")} onClose=${onClose}>
    ${
      made
        ? html`<${Link} invite=${made} onAnother=${() => setMade(null)} />`
        : html`<${Making} onMade=${setMade} onClose=${onClose} />`
    }
  <//>`;
}

/** @param {{onMade: (invite: Invite) => void, onClose: () => void}} props */
function Making({ onMade, onClose }) {
  const [form, setForm] = useState(
    /** @type {InviteForm} */ ({
      lifetime_s: 604800,
      max_uses: 0,
      role_id: null,
      channel_id: null,
      approval: false,
    }),
  );
  const { busy, problem, get } = useFormRequest();
  /** @template {keyof InviteForm} K @param {K} key */
  const set = (key) => (/** @type {InviteForm[K]} */ value) => setForm({ ...form, [key]: value });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const wanted = /** @type {Partial<InviteForm>} */ (
      Object.fromEntries(Object.entries(form).filter(([, value]) => value))
    );
    const made = await get(() => createInvite(wanted));
    if (!made) return;
    copy(addressOfInvite(made), t("invite-copied"));
    onMade(made);
  };
  return html`<form class="stack" onSubmit=${submit}>
    <${Among}
      label=${t("invite-lifetime")}
      value=${form.lifetime_s}
      all=${LIFETIMES_S}
      words=${(/** @type {number} */ seconds) => (seconds ? formatDuration(seconds) : t("invite-forever"))}
      onChange=${set("lifetime_s")}
    />
    <${Among}
      label=${t("invite-uses")}
      value=${form.max_uses}
      all=${USES}
      words=${(/** @type {number} */ count) => (count ? t("invite-for", { count }) : t("invite-for-all"))}
      onChange=${set("max_uses")}
    />
    ${
      hasPermission("manage_roles") &&
      html`<label class="field">
        ${t("invite-role")}
        <select onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
          set("role_id")(event.currentTarget.value || null)}>
          <option value="">${t("role-member")}</option>
          ${rolesBelow()
            .filter(({ id }) => id !== "member")
            .map((role) => html`<option key=${role.id} value=${role.id}>${roleName(role)}</option>`)}
        </select>
      </label>`
    }
    <label class="field">
      ${t("invite-channel")}
      <select onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
        set("channel_id")(event.currentTarget.value || null)}>
        <option value="">${t("invite-any-channel")}</option>
        ${textChannels.value.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
      </select>
    </label>
    <${Switch}
      label=${t("invite-approval")}
      hint=${t("invite-approval-hint")}
      checked=${form.approval}
      onChange=${set("approval")}
    />
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    <footer class="buttons">
      <${Button} onClick=${onClose}>${t("cancel")}<//>
      <${Button} look="primary" type="submit" disabled=${busy}>${t("make-link")}<//>
    </footer>
  </form>`;
}

/** @param {{invite: Pick<Invite, "code">, onAnother: () => void}} props */
function Link({ invite, onAnother }) {
  const address = addressOfInvite(invite);
  return html`
    <${Reach} />
    <${Copyable} label=${t("invite-link")} text=${address} done=${t("invite-copied")} />
    <div class="qr-place">
      <${QrCode} text=${address} label=${t("invite-code-for-phones")} />
      <p class="quiet">${t("invite-code-for-phones")}</p>
    </div>
    <footer>
      <${Button} onClick=${onAnother}>${t("another-link")}<//>
      ${
        navigator.share &&
        html`<${Button} look="primary" onClick=${() => navigator.share({ url: address }).catch(() => {})}>
          ${t("share-link")}
        <//>`
      }
    </footer>
  `;
}

/** A warning if the server's URL does not work for others. Otherwise renders nothing. */
export function Reach() {
  const problem = problemOf(location);
  if (!problem) return null;
  return html`<div class="finding" data-problem=${problem} role="note">
    <p><b>${t(`reach-${problem}`, { address: location.host })}</b></p>
    <p>${t(`reach-${problem}-do`)}</p>
  </div>`;
}
