// Shows a member's profile: their name and roles, and the actions on them.

/** @import { ItemList } from "../parts/menu.js" */

import { hasPermission } from "../../state/channels.js";
import { written } from "../../state/completion.js";
import { tryOrNotify } from "../../state/notices.js";
import {
  block,
  blocked,
  colourOf,
  memberOf,
  presenceOf,
  roles as known,
  unblock,
  roleName,
} from "../../state/people.js";
import { closeDialogs, currentLocation, showDialog } from "../../state/navigation.js";
import { writeTo } from "../../state/private_client.js";
import { mayWriteTo } from "../../state/private_conversations.js";
import { draftOf, write } from "../../state/drafts.js";
import { member as ownMember } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { focusMessageFieldLater } from "../parts/focus.js";
import { actItems, MemberMenu } from "../admin/member_menu.js";
import { LinksOfMember } from "../servers/linked_accounts.js";
import { Avatar, BotSign, hue } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Lazy } from "../parts/lazy_component.js";
import { dateOf } from "../parts/time.js";

const History = Lazy(() => import("../admin/moderation_history_dialog.js"), "History");

/** @param {{memberId: string, onClose: () => void}} props */
export function Profile({ memberId, onClose }) {
  const member = memberOf(memberId);
  if (!member)
    return html`<${Dialog} title=${t("profile")} onClose=${onClose}>
      <p class="quiet">${t("member-unknown")}</p>
    <//>`;
  const own = memberId === ownMember.value?.id;
  const isBlocked = blocked.value.has(memberId);
  /** @type {ItemList} */
  const more = [
    ownMember.value?.roles.includes("owner") && {
      label: t("recovery-item"),
      icon: "link",
      onChoose: () => showDialog("recovery", { memberId }),
    },
  ];
  const {
    nickname,
    avatar,
    status_text: status,
    roles,
    joined_at_ms: joinedAt,
    timeout_until_ms: timeout,
  } = member;
  return html`<${Dialog}
    title=${nickname}
    onClose=${onClose}
    class="profile"
    menu=${html`<${MemberMenu} member=${member} items=${actItems(member)} more=${own ? [] : more} />`}
  >
    <div class="band" style=${{ "--hue": hue(memberId) }}></div>
    <div class="who-is">
      <${Avatar} id=${memberId} name=${nickname} url=${avatar} presence=${presenceOf(memberId)} size="huge" />
      <div>
        <p class="quiet">${t(`is-${presenceOf(memberId)}`)} <${BotSign} bot=${member.bot} /></p>
        ${status && html`<p dir="auto">${status}</p>`}
        <p class="quiet">${t("joined-on", { date: dateOf(joinedAt) })}</p>
        ${timeout && timeout > Date.now() && html`<p class="error">${t("in-timeout")}</p>`}
      </div>
    </div>
    <ul class="roles" aria-label=${t("roles")}>
      ${known.value
        .filter(({ id }) => roles.includes(id))
        .map(
          (role) =>
            html`<li key=${role.id} style=${{ "--role": colourOf(role) }} dir="auto">${roleName(role)}</li>`,
        )}
    </ul>
    ${!member.bot && html`<${LinksOfMember} member=${member} />`}
    ${
      hasPermission("view_reports") &&
      html`<details class="history">
        <summary>${t("moderation-history")}</summary>
        <${History} memberId=${memberId} onClose=${() => {}} />
      </details>`
    }
    ${
      !own &&
      html`<footer>
        ${
          currentLocation.value?.channelId &&
          html`<${Button}
            aria-label=${t("mention", { name: nickname })}
            onClick=${() => mention(memberId, nickname)}
          >
            ${t("mention-short")}
          <//>`
        }
        <${Button}
          aria-label=${isBlocked ? t("unblock", { name: nickname }) : t("block", { name: nickname })}
          onClick=${() => tryOrNotify(isBlocked ? unblock(memberId) : block(memberId))}
        >
          ${isBlocked ? t("unblock-short") : t("block-short")}
        <//>
        <${Button} onClick=${() => showDialog("report", { memberId })}>${t("report-short")}<//>
        ${
          hasPermission("send_messages") &&
          mayWriteTo(member) &&
          html`<${Button} look="primary" icon="lock" onClick=${() => tryOrNotify(writeTo(memberId))}>
            ${t("private-message")}
          <//>`
        }
      </footer>`
    }
  <//>`;
}

/** Append a mention to the open channel's draft. @param {string} id @param {string} name */
export function mention(id, name) {
  const channelId = currentLocation.value?.channelId;
  if (!channelId) return;
  write(channelId, `${draftOf(channelId).text.value}${mentionOf(id, name)}`);
  closeDialogs();
  focusMessageFieldLater(channelId);
}

/** Return the Markdown for a mention, followed by a space. @param {string} id @param {string} name */
export const mentionOf = (id, name) => `${written({ kind: "member", id, name })} `;
