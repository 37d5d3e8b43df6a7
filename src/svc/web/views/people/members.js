// Lists the members by role, with online members first. Only visible rows are rendered, but the arrow keys
// reach all rows. Also renders a member's row for lists in dialogs.

/**
 * @import { Member as OneMember } from "../../types/api.js"
 * @import { Row } from "../../state/member_order.js"
 * @import { ComponentChildren } from "../../vendor/preact.js"
 */

import {
  colouredRole,
  colourOf,
  complete,
  loadMembers,
  members,
  presenceOf,
  roleName,
  memberOf,
} from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { roster, wanted } from "../../state/member_order.js";
import { connection, member } from "../../state/server.js";
import { html, memo, useEffect, useLayoutEffect, useState } from "../../vendor/preact.js";
import { Skeletons } from "../parts/skeletons.js";
import { explain, t } from "../../words/words.js";
import { memberItems } from "../admin/member_menu.js";
import { EmptyState, SidePanel } from "../parts/side_panel.js";
import { MenuButton } from "../parts/menu.js";
import { Avatar, BotSign } from "../parts/avatar.js";
import { useWindow } from "../parts/virtual_list.js";
import { personItems } from "./person_menu.js";
import { usePersonMenu } from "./person_menu_trigger.js";

// The row heights, as in style/later/people.css.
const HEAD_REM = 2.25;
const PERSON_REM = 2.75;

/** @param {{onClose: () => void}} props */
export function Members({ onClose }) {
  const [problem, setProblem] = useState("");
  // Fetch all members if the list is incomplete, for example after a long disconnection.
  useEffect(() => {
    if (!complete.value)
      loadMembers().then(
        () => setProblem(""),
        (error) => setProblem(explain(error)),
      );
  }, [complete.value, connection.value === "online"]);
  useEffect(
    () => () => {
      wanted.value = "";
    },
    [],
  );
  const rows = roster.value;
  return html`<${SidePanel} title=${t("members-count", { count: members.value.size })} onClose=${onClose}>
    <input
      type="search"
      dir="auto"
      aria-label=${t("find-member")}
      placeholder=${t("find-member")}
      value=${wanted.value}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => {
        wanted.value = event.currentTarget.value;
      }}
    />
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    <${Roster} rows=${rows} />
    ${!complete.value && !problem && html`<${Skeletons} rows=${3} />`}
    ${
      complete.value &&
      !rows.length &&
      html`<div role="status"><${EmptyState} icon="people">${t("nothing-found")}<//></div>`
    }
  <//>`;
}

/** @param {{rows: Row[]}} props */
function Roster({ rows }) {
  const { from, to, before, after, list, show } = useWindow(
    rows.map(({ member }) => (member ? PERSON_REM : HEAD_REM)),
  );
  const [current, setCurrent] = useState(""); // The id of the member that the arrow keys last reached.
  const [moves, setMoves] = useState(0);
  useLayoutEffect(() => {
    if (moves) list.current.querySelector(`[data-id="${CSS.escape(current)}"] > button`)?.focus();
  }, [moves]);
  const drawn = rows.slice(from, to);
  const stop = drawn.find(({ key }) => key === current)?.key ?? drawn.find(({ member }) => member)?.key;
  const move = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) => {
    if (!event.target.matches("li > button")) return;
    const at = rows.findIndex(({ key }) => key === event.target.parentElement?.dataset.id);
    const index = stepFrom(rows, at, event.key);
    if (index === null) return;
    event.preventDefault();
    setCurrent(rows[index].key);
    show(index);
    setMoves(moves + 1);
  };
  return html`<ul
    class="members"
    ref=${list}
    aria-label=${t("members")}
    style=${{ paddingBlock: `${before}px ${after}px` }}
    onKeyDown=${move}
  >
    ${drawn.map((row, number) =>
      row.member
        ? html`<${Member}
            key=${row.key}
            member=${row.member}
            isOnline=${row.isOnline}
            presence=${presenceOf(row.member.id)}
            colour=${colourOf(colouredRole(row.member))}
            reached=${row.key === stop}
            position=${from + number + 1}
            of=${rows.length}
          />`
        : html`<li
            key=${`group ${row.key}`}
            class="group"
            aria-posinset=${from + number + 1}
            aria-setsize=${rows.length}
          >
            <h3 dir="auto">${groupName(row)} <span class="quiet">${row.count}</span></h3>
          </li>`,
    )}
  </ul>`;
}

/**
 * @typedef {{
 *   member: OneMember, isOnline: boolean, presence: ReturnType<typeof presenceOf>, colour: string | null,
 *   reached: boolean, position: number, of: number
 * }} MemberProps
 */
const Member = memo(
  (/** @type {MemberProps} */ { member, isOnline, presence, colour, reached, position, of }) => {
    const { id, nickname, avatar, status_text: status } = member;
    const tabindex = reached ? 0 : -1;
    const how = presence === "idle" || presence === "quiet" ? t(`is-${presence}`) : null;
    const [ask, menu] = usePersonMenu();
    const openMenu = (/** @type {EventOn<HTMLElement, MouseEvent>} */ event) => {
      if (!event.target.closest(".menu"))
        ask(event, { id, name: nickname }, event.currentTarget.querySelector("button"));
    };
    return html`<li
    data-id=${id}
    onContextMenu=${openMenu}
    class=${isOnline ? "" : "is-away"}
    aria-posinset=${position}
    aria-setsize=${of}
  >
    <button type="button" tabindex=${tabindex} onClick=${() => showDialog("profile", { memberId: id })}>
      <${Avatar} id=${id} name=${nickname} url=${avatar} presence=${presence} />
      <span class="who">
        <span class=${colour ? "coloured" : ""} style=${{ "--role": colour }} dir="auto">${nickname}</span>
        <${BotSign} bot=${member.bot} />
        ${
          (how || status) &&
          html`<small class="quiet">
            ${how}${how && status && " · "}<span dir="auto">${status}</span>
          </small>`
        }
      </span>
    </button>
    ${
      memberItems(member).length > 0 &&
      html`<${MenuButton}
        label=${t("menu-of", { name: nickname })}
        items=${() => personItems(id, nickname)}
        tabindex=${tabindex}
      />`
    }
    ${menu}
  </li>`;
  },
);

/**
 * Return the index of the member that this key moves to, or null for other keys.
 * @param {Row[]} rows
 * @param {number} at
 * @param {string} key
 */
function stepFrom(rows, at, key) {
  const isPerson = (/** @type {Row} */ { member }) => member;
  const index = /** @type {{[key: string]: () => number}} */ ({
    ArrowDown: () => rows.findIndex((row, number) => number > at && row.member),
    ArrowUp: () => rows.findLastIndex((row, number) => number < at && row.member),
    Home: () => rows.findIndex(isPerson),
    End: () => rows.findLastIndex(isPerson),
  })[key]?.();
  return index === undefined || index < 0 ? null : index;
}

/** @param {Pick<Row, "key" | "role">} group */
function groupName({ key, role }) {
  if (role) return roleName(role);
  return key === "here" ? t("here-now") : t("away");
}

/** `children` are additional actions. @param {{id: string, children?: ComponentChildren}} props */
export function PersonRow({ id, children }) {
  const person = memberOf(id);
  const name = person?.nickname ?? t("somebody");
  return html`<li>
    <button type="button" class="person-row" onClick=${() => showDialog("profile", { memberId: id })}>
      <${Avatar} id=${id} name=${name} url=${person?.avatar} presence=${presenceOf(id)} size="small" />
      <span dir="auto">${id === member.value?.id ? t("name-you", { name }) : name}</span>
    </button>${children}
  </li>`;
}
