// Describes each audit log entry in one sentence, followed by its changes.

/** @import { AuditEntry } from "../../types/api.js" */
/** @import { Permission } from "../../types/wire.js" */

import { channelsById } from "../../state/channels.js";
import { memberOf, rolesById, roleName } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { knows, t } from "../../words/words.js";
import { formatDuration, Time } from "../parts/time.js";
import { permissionName } from "./parts/permission.js";

/** @typedef {AuditEntry["details"]} Details */

const DAY_S = 86400;
/**
 * The labels of the owner's settings, by setting.
 * @type {{[setting: string]: string}}
 */
const SETTINGS = {
  description: "community-description",
  rules: "community-rules",
  joinPolicy: "join-policy",
  profanityMode: "bad-words",
  lanOpen: "setting-lanopen",
  discoverable: "setting-discoverable",
  linkPreviews: "setting-linkpreviews",
  welcomeChannelId: "welcome-channel",
  retentionDays: "retention",
};
const dashed = (/** @type {string} */ name) => name.replaceAll("_", "-");
const ABOUT_MEMBERS = /^(member|owner|voice|recovery|bot)_/;

/**
 * Return the entry's sentence, or the action's name if there is no sentence for it.
 * @param {AuditEntry} entry
 */
export function sentenceOf(entry) {
  const key = `audit-${dashed(entry.action)}`;
  return knows(key)
    ? t(`audit-${dashed(entry.action)}`, argumentsOf(entry))
    : t("audit-other", { who: whoOf(entry), action: entry.action });
}

// An entry's details depend on its action, so their types are checked here.
const text = (/** @type {unknown} */ value) => (typeof value === "string" ? value : "");
/** @param {unknown} value @returns {Details} */
const inside = (value) => (typeof value === "object" && value !== null ? /** @type {Details} */ (value) : {});
/** @param {unknown} value @returns {Permission[]} */
const permissionsIn = (value) => (Array.isArray(value) ? value : []);
/** @param {AuditEntry} entry */
const whoOf = ({ actor_id: id, details }) =>
  details.rule
    ? t("the-rule", { rule: text(details.rule) })
    : id
      ? (memberOf(id)?.nickname ?? t("somebody"))
      : t("the-operator");

/** @param {AuditEntry} entry */
function argumentsOf(entry) {
  const { action, target_id: target, details } = entry;
  const about = ABOUT_MEMBERS.test(action)
    ? text(details.nickname) ||
      text(details.before) ||
      (target && memberOf(target)?.nickname) ||
      t("somebody")
    : (memberOf(text(details.author_id) || text(details.member_id) || "-")?.nickname ??
      (text(details.nickname) || t("somebody")));
  const channel = channelsById.value.get(text(details.channel_id) || (target ?? ""));
  const role = rolesById.value.get(text(details.role_id) || (target ?? ""));
  const name =
    text(details.name) || text(inside(details.after).name) || (role && roleName(role)) || channel?.name || "";
  return {
    who: whoOf(entry),
    about,
    channel: channel?.name ?? t("a-channel"),
    name: name || t("something"),
    role: role ? roleName(role) : name || t("role-gone"),
    after: text(details.after),
    origin: text(details.origin),
    muted: details.muted ? "yes" : "no",
    deafened: details.deafened ? "yes" : "no",
  };
}

/**
 * Return the details that the sentence omits, such as the reason and the changed values, as [[label, text]].
 * @param {AuditEntry} entry
 */
export function detailsOf({ details, action }) {
  /** @type {[what: string, how: unknown][]} */
  const facts = [];
  if (text(details.reason)) facts.push([t("reason"), details.reason]);
  if (text(details.note)) facts.push([t("note"), details.note]);
  if (typeof details.until_ms === "number" && action === "member_timeout")
    facts.push([t("invite-until"), html`<${Time} ms=${details.until_ms} style="long" />`]);
  if (Array.isArray(details.changed)) facts.push([t("changed"), details.changed.map(field).join(", ")]);
  for (const side of ["allow", "deny"])
    if (permissionsIn(details[side]).length)
      facts.push([t(`override-${side}`), permissionsIn(details[side]).map(permissionName).join(", ")]);
  return [...facts, ...differences(details)];
}

const field = (/** @type {string} */ key) =>
  SETTINGS[key] ? t(SETTINGS[key]) : knows(`field-${dashed(key)}`) ? t(`field-${dashed(key)}`) : key;

/** @param {Details} details @returns {[what: string, how: string][]} */
function differences(details) {
  if (inside(details.before).id) return betweenRoles(inside(details.before), inside(details.after));
  return Object.entries(details)
    .map(([key, value]) => /** @type {const} */ ([key, inside(value)]))
    .filter(([, value]) => "before" in value || "from" in value)
    .map(([key, value]) => [
      field(key),
      `${shown(key, value.before ?? value.from)} → ${shown(key, value.after ?? value.to)}`,
    ]);
}

/**
 * Return the changes between two versions of a role: name, rank, colour and permissions.
 * @param {Details} before @param {Details} after
 */
function betweenRoles(before, after) {
  /** @type {[what: string, how: string][]} */
  const facts = ["name", "rank", "color"]
    .filter((key) => before[key] !== after[key])
    .map((key) => [field(key), `${shown(key, before[key])} → ${shown(key, after[key])}`]);
  const [had, has] = [permissionsIn(before.permissions), permissionsIn(after.permissions)];
  const more = has.filter((name) => !had.includes(name));
  const fewer = had.filter((name) => !has.includes(name));
  if (more.length) facts.push([t("permissions-added"), more.map(permissionName).join(", ")]);
  if (fewer.length) facts.push([t("permissions-taken"), fewer.map(permissionName).join(", ")]);
  return facts;
}

/** @param {string} key @param {unknown} value */
function shown(key, value) {
  if (key === "joinPolicy") return t(`join-policy-${value}`);
  if (key === "profanityMode") return t(`bad-words-${value}`);
  if (key === "retentionDays") return value ? formatDuration(Number(value) * DAY_S) : t("retention-forever");
  if ((key === "parent_id" || key === "welcomeChannelId") && value)
    return channelsById.value.get(text(value))?.name ?? t("a-channel");
  if (key === "color" && typeof value === "number") return `#${value.toString(16).padStart(6, "0")}`;
  if (key.endsWith("_kbps")) return value ? t("kbps", { kbps: Number(value) }) : t("bitrate-usual");
  if (value === null || value === "" || value === undefined) return "–";
  if (key.endsWith("_s")) return formatDuration(Number(value));
  return typeof value === "boolean" ? t(value ? "is-on" : "is-off") : String(value);
}

/** @param {{entry: AuditEntry}} props */
export function Entry({ entry }) {
  const facts = detailsOf(entry);
  return html`<li class="managed-row entry" data-action=${entry.action}>
    <div class="managed-words">
      <span dir="auto">${sentenceOf(entry)}</span>
      ${facts.map(([what, how]) => html`<small class="quiet" key=${what} dir="auto">${what}: ${how}</small>`)}
    </div>
    <small class="quiet"><${Time} ms=${entry.at_ms} style="long" /></small>
  </li>`;
}
