// Lists linked accounts on a member's profile and in the user's settings.

/** @import { Confirmation, LinkedAccount } from "../../state/linked_accounts.js" */
/** @import { Member } from "../../types/api.js" */

import { ranksBelow } from "../../state/admin/role_rank.js";
import { hasPermission } from "../../state/channels.js";
import {
  confirmations,
  linksOf,
  loadOwn,
  ownLinks,
  unlink,
  verify,
  withdraw,
} from "../../state/linked_accounts.js";
import { showDialog } from "../../state/navigation.js";
import { tryOrNotify } from "../../state/notices.js";
import { hostOf, servers } from "../../state/other_servers.js";
import { member } from "../../state/server.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { useResponse, useFormRequest } from "../admin/parts/form_request.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { MenuButton } from "../parts/menu.js";
import { dateOf } from "../parts/time.js";

/**
 * The linked accounts on a member's profile. Renders nothing if there are none.
 * @param {{member: Member}} props
 */
export function LinksOfMember({ member }) {
  const { value: links, again } = useResponse(() => linksOf(member.id), [member.id]);
  if (!links?.length) return null;
  const mayRemove = hasPermission("manage_nicknames") && ranksBelow(member);
  const remove = (/** @type {LinkedAccount} */ { id }) => tryOrNotify(unlink(member.id, id).then(again));
  return html`<ul class="linked-accounts" aria-label=${t("link-accounts")}>
    ${links.map(
      (link) =>
        html`<${Link} key=${link.id} memberId=${member.id} link=${link} onRemove=${mayRemove && remove} />`,
    )}
  </ul>`;
}

/**
 * @param {{memberId: string, link: LinkedAccount, onRemove: false | ((link: LinkedAccount) => unknown)}}
 *   props
 */
function Link({ memberId, link, onRemove }) {
  const { busy, get } = useFormRequest();
  // The name on that server, "" if not confirmed, null if unreachable, or undefined until requested.
  const [name, setName] = useState(/** @type {string | null | undefined} */ (undefined));
  const host = hostOf(link.origin);
  const mayVerify = servers.value.some(({ origin, token }) => origin === link.origin && token);
  const look = name ? "verified" : name === "" ? "error" : "quiet";
  const state = name
    ? t("link-verified", { name, host })
    : name === ""
      ? t("link-not-confirmed")
      : name === null
        ? t("link-no-response")
        : t(mayVerify ? "link-unchecked" : "link-unverified");
  return html`<li>
    <${Icon} name=${name ? "check" : "link"} />
    <span class="row-text">
      <span dir="auto">${t("link-also", { host })}</span>
      <small class=${look} role="status" dir="auto">${state}</small>
    </span>
    ${
      mayVerify &&
      !name &&
      html`<${Button}
        aria-label=${t("link-verify", { host })}
        title=${t("link-verify-hint", { host })}
        disabled=${busy}
        onClick=${() => get(async () => setName(await verify(memberId, link)))}
        >${t("link-verify-short")}<//
      >`
    }
    ${
      onRemove &&
      html`<${IconButton}
        icon="trash"
        label=${t("link-remove", { host })}
        onClick=${() => onRemove(link)}
      />`
    }
  </li>`;
}

/** The user's own links, and the confirmations that they have given to other servers. */
export function OwnLinks() {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    loadOwn().catch((error) => setProblem(explain(error)));
  }, []);
  const items = servers.value.map(({ origin, name }) => ({
    label: name,
    icon: /** @type {const} */ ("link"),
    onChoose: () => showDialog("link-accounts", { origin }),
  }));
  const links = ownLinks.value ?? [];
  return html`
    <h4>${t("link-accounts")}</h4>
    <p>${t("link-accounts-text")}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${
      links.length > 0 &&
      html`<ul class="rows" aria-label=${t("link-accounts")}>
        ${links.map((link) => html`<${OwnLink} key=${link.id} link=${link} />`)}
      </ul>`
    }
    ${
      items.length > 0
        ? html`<p>
            <${MenuButton} class="button" label=${t("link-choose")} items=${items}>${t("link-choose")}<//>
          </p>`
        : html`<p class="quiet">${t("link-no-servers")}</p>`
    }
    ${
      confirmations.value.length > 0 &&
      html`<h4>${t("link-confirmations")}</h4>
        <p>${t("link-confirmations-text")}</p>
        <ul class="rows" aria-label=${t("link-confirmations")}>
          ${confirmations.value.map(
            (confirmation) => html`<${Given} key=${confirmation.digest} confirmation=${confirmation} />`,
          )}
        </ul>`
    }
  `;
}

/** @param {{link: LinkedAccount}} props */
function OwnLink({ link: { id, origin, made_at_ms: madeAt } }) {
  const memberId = member.value?.id ?? "";
  const host = hostOf(origin);
  return html`<li>
    <span class="row-text">
      <bdi dir="ltr">${host}</bdi>
      <small class="quiet">${t("link-since", { date: dateOf(madeAt) })}</small>
    </span>
    <${Button} aria-label=${t("link-remove", { host })} onClick=${() => tryOrNotify(unlink(memberId, id))}
      >${t("servers-remove")}<//
    >
  </li>`;
}

/** @param {{confirmation: Confirmation}} props */
function Given({ confirmation: { digest, origin, made_at_ms: madeAt } }) {
  const host = origin ? hostOf(origin) : t("link-another-server");
  return html`<li>
    <span class="row-text">
      <bdi>${host}</bdi>
      <small class="quiet">${t("link-confirmed-on", { date: dateOf(madeAt) })}</small>
    </span>
    <${Button} aria-label=${t("link-withdraw", { host })} onClick=${() => tryOrNotify(withdraw(digest))}
      >${t("link-withdraw-short")}<//
    >
  </li>`;
}
