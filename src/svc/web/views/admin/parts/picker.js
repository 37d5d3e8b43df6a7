// Renders a field for choosing roles and members. The chosen targets are shown as chips, and the others can
// be searched by name.

/** @import { Member, Role } from "../../../types/api.js" */
/** @import { RefObject } from "../../../vendor/preact.js" */

import { foldCase } from "../../../state/name_search.js";
import { loadMembers, members, roles, roleName } from "../../../state/people.js";
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../../../vendor/preact.js";
import { t } from "../../../words/words.js";
import { Avatar } from "../../parts/avatar.js";
import { Icon } from "../../parts/icon.js";
import { moveAmong } from "../../parts/menu.js";

const MAX_FOUND = 8;

/**
 * A key, such as "role:admin" or "member:ID", identifies a role or member.
 * @typedef {{key: string, id: string, name: string, role?: Role, member?: Member}} Target
 * @typedef {"role" | "member" | undefined} Only
 */

/** Return the role or member that a key identifies. @param {string} key @returns {Target} */
export function targetOf(key) {
  const [type, id] = key.split(/:(.*)/s);
  if (type === "role") {
    const role = roles.value.find((role) => role.id === id);
    return { key, id, role, name: role ? roleName(role) : t("role-gone") };
  }
  const member = members.value.get(id);
  return { key, id, member, name: member?.nickname ?? t("somebody") };
}

/** @param {{target: Target}} props */
export function TargetSign({ target }) {
  return target.role || !target.member
    ? html`<${Icon} name="people" />`
    : html`<${Avatar} id=${target.id} name=${target.name} url=${target.member.avatar} size="small" />`;
}

/**
 * The keys in `chosen` are not offered. `only` limits the choice to roles or members.
 * @param {{label: string, chosen: string[], onPick: (key: string) => void, only?: Only}} props
 */
export function Pick({ label, chosen, onPick, only }) {
  const [wanted, setWanted] = useState("");
  const [open, setOpen] = useState(false);
  const id = useId();
  useEffect(() => {
    if (only !== "role") loadMembers().catch(() => {});
  }, []);
  const matches = open ? offered(wanted, chosen, only) : [];
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  /** @type {RefObject<HTMLInputElement>} */
  const field = useRef(null);
  const returning = useRef(false);
  // In a dialog, the list may open below the visible area.
  useLayoutEffect(() => {
    if (open) list.current.scrollIntoView({ block: "nearest" });
  }, [open]);
  const comeBack = () => {
    returning.current = true;
    field.current.focus();
    returning.current = false;
  };
  const pick = (/** @type {string} */ key) => {
    setWanted("");
    setOpen(false);
    // An open list would cover the chips and the fields below.
    comeBack();
    onPick(key);
  };
  const pressed = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) => {
    const all = [
      .../** @type {NodeListOf<HTMLElement>} */ (
        event.currentTarget.querySelectorAll("input, .offered button")
      ),
    ];
    if (event.key === "Escape" && open) {
      event.stopPropagation();
      event.preventDefault();
      setOpen(false);
      comeBack();
    } else if (event.key === "ArrowDown" && !open) {
      event.preventDefault();
      setOpen(true);
    } else if (event.key === "Enter" && event.target === field.current) {
      event.preventDefault();
      if (matches.length) pick(matches[0].key);
    } else if (!["Home", "End"].includes(event.key)) moveAmong(event, all);
  };
  const left = (/** @type {EventOn<HTMLElement, FocusEvent>} */ event) => {
    if (!event.currentTarget.contains(/** @type {Element | null} */ (event.relatedTarget))) setOpen(false);
  };
  return html`<div class="pick field" onKeyDown=${pressed} onFocusOut=${left}>
    <label for=${id}>${label}</label>
    <input
      id=${id}
      ref=${field}
      type="text"
      autocomplete="off"
      dir="auto"
      placeholder=${only === "member" ? t("pick-member-hint") : t("pick-hint")}
      value=${wanted}
      onFocus=${() => {
        if (!returning.current) setOpen(true);
      }}
      onClick=${() => setOpen(true)}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => {
        setWanted(event.currentTarget.value);
        setOpen(true);
      }}
    />
    ${
      open &&
      html`<ul class="offered" ref=${list}>
        ${matches.map(
          (target) => html`<li key=${target.key}>
            <button type="button" tabindex="-1" onClick=${() => pick(target.key)}>
              <${TargetSign} target=${target} />
              <span dir="auto">${target.name}</span>
            </button>
          </li>`,
        )}
        ${!matches.length && html`<li class="quiet">${t("nothing-found")}</li>`}
      </ul>`
    }
  </div>`;
}

/**
 * The chosen targets, each with a remove button.
 * @param {{label: string, keys: string[], onRemove: (key: string) => void}} props
 */
export function Chips({ label, keys, onRemove }) {
  return html`<ul class="chips" aria-label=${label}>${keys.map((key) => {
    const target = targetOf(key);
    return html`<li key=${key}>
      <${TargetSign} target=${target} />
      <span dir="auto">${target.name}</span>
      <button
        type="button"
        aria-label=${t("remove-target", { name: target.name })}
        title=${t("remove-target", { name: target.name })}
        onClick=${() => onRemove(key)}
      >
        <${Icon} name="close" />
      </button>
    </li>`;
  })}</ul>`;
}

/** @param {string} wanted @param {string[]} chosen @param {Only} only */
function offered(wanted, chosen, only) {
  const letters = foldCase(wanted);
  const all = [
    ...(only === "member"
      ? []
      : roles.value.filter(({ id }) => id !== "owner").map(({ id }) => `role:${id}`)),
    ...(only === "role" ? [] : [...members.value.keys()].map((id) => `member:${id}`)),
  ];
  return all
    .filter((key) => !chosen.includes(key))
    .map(targetOf)
    .filter(({ name }) => foldCase(name).includes(letters))
    .slice(0, MAX_FOUND);
}
