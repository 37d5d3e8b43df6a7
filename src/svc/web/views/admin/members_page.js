// Lists the members in the settings, with filters and with actions for one or more members.

/** @import { Act } from "../../state/admin/members.js" */
/** @import { Member } from "../../types/api.js" */

import { hasPermission } from "../../state/channels.js";
import { EVERYBODY, findMembers, offeredActs } from "../../state/admin/members.js";
import { tryOrNotify } from "../../state/notices.js";
import { members, online, presenceOf, roles, rolesById, roleName } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { html, useEffect, useId, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar, BotSign } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Switch } from "../parts/field.js";
import { dateOf } from "../parts/time.js";
import { BulkDialog } from "./bulk_dialog.js";
import { MemberMenu } from "./member_menu.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";

const TYPING_MS = 250; // Query only after a pause in typing.
const JOINED_DAYS = [1, 7, 30, -30, -365];
const SEEN_DAYS = [7, -30, -90, -365];

/** @typedef {typeof EVERYBODY} MemberQuery */

export function MembersPage() {
  const [query, setQuery] = useState(EVERYBODY);
  const [chosen, setChosen] = useState(/** @type {Set<string>} */ (new Set()));
  const [act, setAct] = useState(/** @type {Act | null} */ (null));
  const { value, problem, set, again } = useResponse(() => findMembers(query), [query]);
  const further = () =>
    value &&
    tryOrNotify(
      findMembers(query, value.next).then((page) =>
        set({
          ids: [...value.ids, ...page.ids],
          next: page.next,
          lastSeen: { ...value.lastSeen, ...page.lastSeen },
        }),
      ),
    );
  const shown = value?.ids.flatMap((id) => members.value.get(id) ?? []);
  const picked = (shown ?? []).filter(({ id }) => chosen.has(id));
  const choose = (/** @type {string[]} */ ids, /** @type {boolean} */ on) =>
    setChosen(new Set([...[...chosen].filter((id) => !ids.includes(id)), ...(on ? ids : [])]));
  const several = offeredActs().length > 0;
  return html`
    <${Filters} query=${query} onQuery=${setQuery} />
    ${
      several &&
      shown &&
      shown.length > 0 &&
      html`<label class="choose-all">
        <input
          type="checkbox"
          checked=${picked.length === shown.length}
          indeterminate=${picked.length > 0 && picked.length < shown.length}
          onChange=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
            choose(
              shown.map(({ id }) => id),
              event.currentTarget.checked,
            )}
        />
        <span>${t("choose-all-shown", { count: shown.length })}</span>
      </label>`
    }
    <${ListPage}
      label=${t("members")}
      items=${shown}
      problem=${problem}
      again=${again}
      empty=${t("nobody-found")}
      more=${value?.next && further}
      row=${(/** @type {Member} */ member) =>
        html`<${OneMember}
          key=${member.id}
          member=${member}
          seen=${value?.lastSeen[member.id]}
          chosen=${several ? chosen.has(member.id) : null}
          onChoose=${(/** @type {boolean} */ on) => choose([member.id], on)}
        />`}
    />
    ${
      picked.length > 0 &&
      html`<${Bar} count=${picked.length} onAct=${setAct} onNone=${() => setChosen(new Set())} />`
    }
    ${
      act &&
      html`<${BulkDialog}
        act=${act}
        people=${picked}
        onDone=${(/** @type {Member[]} */ done) => {
          choose(
            done.map(({ id }) => id),
            false,
          );
          again();
        }}
        onClose=${() => setAct(null)}
      />`
    }
  `;
}

/** @param {{query: MemberQuery, onQuery: (query: MemberQuery) => void}} props */
function Filters({ query, onQuery }) {
  const [typed, setTyped] = useState(query.query);
  const id = useId();
  useEffect(() => {
    if (typed === query.query) return undefined;
    const timer = setTimeout(() => onQuery({ ...query, query: typed }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, query]);
  const change =
    (/** @type {keyof MemberQuery} */ key, number = false) =>
    (/** @type {EventOn<HTMLSelectElement>} */ event) =>
      onQuery({ ...query, [key]: number ? Number(event.currentTarget.value) : event.currentTarget.value });
  const seen = hasPermission("kick_members");
  const days = (/** @type {"joined" | "seen"} */ what) => (/** @type {number} */ count) =>
    t(`days-${what}-${count > 0 ? "within" : "before"}`, { count: Math.abs(count) });
  const narrowed = /** @type {const} */ (["roleId", "joinedDays", "seenDays", "kind", "inTimeout"]).filter(
    (key) => query[key],
  ).length;
  return html`
    <div class="field">
      <label for=${id}>${t("find-member")}</label>
      <input
        id=${id}
        type="search"
        dir="auto"
        value=${typed}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setTyped(event.currentTarget.value)}
      />
    </div>
    <details class="narrowing">
      <summary>${t("filters", { count: narrowed })}</summary>
      <div class="filter-row">
        <${Select}
          label=${t("filter-role")}
          value=${query.roleId}
          onChange=${change("roleId")}
          options=${[["", t("filter-any")], ...roles.value.map((role) => [role.id, roleName(role)])]}
        />
        <${Select}
          label=${t("filter-joined")}
          value=${query.joinedDays}
          onChange=${change("joinedDays", true)}
          options=${[[0, t("filter-any-time")], ...JOINED_DAYS.map((day) => [day, days("joined")(day)])]}
        />
        ${
          seen &&
          html`<${Select}
            label=${t("filter-seen")}
            value=${query.seenDays}
            onChange=${change("seenDays", true)}
            options=${[[0, t("filter-any-time")], ...SEEN_DAYS.map((day) => [day, days("seen")(day)])]}
          />`
        }
        <${Select}
          label=${t("filter-kind")}
          value=${query.kind}
          onChange=${change("kind")}
          options=${["", "people", "bots"].map((kind) => [kind, t(`filter-kind-${kind || "all"}`)])}
        />
        <${Select}
          label=${t("sort-by")}
          value=${query.sort}
          onChange=${change("sort")}
          options=${["-joined", "joined", "name", ...(seen ? ["-last_seen", "last_seen"] : [])].map(
            (sort) => [sort, t(`sort-${sort.replace(/^-(.*)/, "$1-down").replace("_", "-")}`)],
          )}
        />
        <${Switch}
          label=${t("timed-out")}
          checked=${query.inTimeout}
          onChange=${(/** @type {boolean} */ inTimeout) => onQuery({ ...query, inTimeout })}
        />
      </div>
    </details>
  `;
}

/**
 * A labelled select element. Each option is [value, label].
 * @param {{label: string, value: string | number, options: (string | number)[][], onChange: (event:
 *   EventOn<HTMLSelectElement>) => void}} props
 */
function Select({ label, value, options, onChange }) {
  return html`<label class="field">
    ${label}
    <select onChange=${onChange}>
      ${options.map(
        ([option, words]) =>
          html`<option key=${option} value=${option} selected=${option === value}>${words}</option>`,
      )}
    </select>
  </label>`;
}

/** @param {{member: Member, seen?: number, chosen: boolean | null, onChoose: (on: boolean) => void}} props */
function OneMember({ member, seen, chosen, onChoose }) {
  const { id, nickname, avatar, roles: own, joined_at_ms: joinedAt, timeout_until_ms: timeout } = member;
  const isOnline = online.value.has(id);
  const names = own
    .flatMap((roleId) => rolesById.value.get(roleId) ?? [])
    .filter((role) => role.id !== "member")
    .sort((a, b) => b.rank - a.rank)
    .map(roleName);
  const lastSeen = isOnline ? t("is-online") : seen ? t("seen-on", { date: dateOf(seen) }) : null;
  const sign = html`
    ${
      chosen !== null &&
      html`<input
        type="checkbox"
        aria-label=${t("choose-named", { name: nickname })}
        checked=${chosen}
        onChange=${(/** @type {EventOn<HTMLInputElement>} */ event) => onChoose(event.currentTarget.checked)}
      />`
    }
    <${Avatar} id=${id} name=${nickname} url=${avatar} presence=${presenceOf(id)} size="small" />
  `;
  const title = html`
    <button type="button" class="plain" dir="auto" onClick=${() => showDialog("profile", { memberId: id })}>
      ${nickname}
    </button>
    <${BotSign} bot=${member.bot} />
    ${(timeout ?? 0) > Date.now() && html`<span class="badge">${t("timed-out")}</span>`}
  `;
  return html`<${Row}
    sign=${sign}
    title=${title}
    text=${[...names, t("joined-on", { date: dateOf(joinedAt) }), lastSeen].filter(Boolean).join(" · ")}
  >
    <${MemberMenu} member=${member} />
  <//>`;
}

/**
 * The actions for the selected members.
 * @param {{count: number, onAct: (act: Act) => void, onNone: () => void}} props
 */
function Bar({ count, onAct, onNone }) {
  return html`<div class="action-bar" role="group" aria-label=${t("chosen-count", { count })}>
    <span>${t("chosen-count", { count })}</span>
    ${offeredActs().map(
      (act) =>
        html`<${Button}
          key=${act}
          look=${act === "kick" || act === "ban" ? "danger" : ""}
          onClick=${() => onAct(act)}
        >
          ${t(`bulk-${act}`)}
        <//>`,
    )}
    <${Button} look="link" onClick=${onNone}>${t("choose-none")}<//>
  </div>`;
}
