// Keeps the members, their roles and presence, and the list of members we have blocked. Fetches members when
// their names are first needed.

/** @import { Member, Resumption, Role } from "../types/api.js" */
/** @import { ResponseBody } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { computed, signal } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { api, ask, listen, member, unhurried } from "./server.js";

const PAGE = 200;
const AT_ONCE = 100; // The maximum number of ids in one request.

/** The members loaded so far, by id. @type {Signal<Map<string, Member>>} */
export const members = signal(new Map());
/** Whether all members have been loaded. */
export const complete = signal(false);
/** All roles, highest first. @type {Signal<Role[]>} */
export const roles = signal([]);
export const rolesById = computed(() => new Map(roles.value.map((role) => [role.id, role])));
/** Member ids. @typedef {Set<string>} Ids */
export const online = signal(/** @type {Ids} */ (new Set()));
export const blocked = signal(/** @type {Ids} */ (new Set()));
/** Ids of the online members who are idle (`idle`) or on do-not-disturb (`quiet`). */
const idle = signal(/** @type {Ids} */ (new Set()));
const quiet = signal(/** @type {Ids} */ (new Set()));
/** Whether we are on do-not-disturb. */
export const ownQuiet = computed(() => quiet.value.has(member.value?.id ?? ""));

/** Whether we are invisible, which means that we appear away to others. */
export const ownInvisible = signal(false);

/** Return a member's presence: "online", "idle", "quiet" (do not disturb) or "away". @param {string} id */
export function presenceOf(id) {
  if (!online.value.has(id)) return "away";
  if (quiet.value.has(id)) return "quiet";
  return idle.value.has(id) ? "idle" : "online";
}

/** Set our presence on all devices. @param {"online" | "quiet" | "invisible"} how */
export async function setPresence(how) {
  // Become invisible first or visible last, so that others never see the state in between.
  if (how === "invisible") await ask("invisible_set", { invisible: true });
  await ask("quiet_set", { quiet: how === "quiet" });
  if (how !== "invisible") await ask("invisible_set", { invisible: false });
}

const requested = new Set();
/** Ids to fetch with the next request. @type {string[]} */
let wanted = [];
/** @type {Promise<void> | null} */
let loading = null;
let greetings = 0; // The number of greetings received.
let onTheirWay = 0; // The number of pending requests for members.
/**
 * Members pushed while a response was pending. The response may be older than the push.
 * @type {Ids}
 */
const newer = new Set();

/** Return the member with this id, or null while the member is being fetched. @param {string} id */
export function memberOf(id) {
  const known = members.value.get(id);
  if (!known && !requested.has(id)) {
    requested.add(id);
    // Fetch all the members that this render needs with one request.
    if (wanted.push(id) === 1) queueMicrotask(askWanted);
  }
  return known ?? null;
}

function askWanted() {
  const ids = wanted;
  wanted = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    fetchMembers(new URLSearchParams({ ids: String(some), limit: String(AT_ONCE) })).catch(() => {});
  }
}

/** Fetch members and store them. Resolves with the response. @param {URLSearchParams} query */
export async function fetchMembers(query) {
  onTheirWay += 1;
  try {
    const page = await api("GET", `/api/members?${query}`);
    storeMembers(page.members.filter(({ id }) => !newer.has(id)));
    return page;
  } finally {
    onTheirWay -= 1;
    if (!onTheirWay) newer.clear();
  }
}

/** Fetch all members, unless they have already been fetched. */
export function loadMembers() {
  if (complete.value) return Promise.resolve();
  loading ??= fetchAll().finally(() => {
    loading = null;
  });
  return loading;
}

async function fetchAll() {
  let round = 0;
  /** @type {string | null} */
  let after = null;
  do {
    // A greeting discards the members fetched so far, so start again.
    if (round !== greetings) [round, after] = [greetings, null];
    /** @type {ResponseBody<"GET", "/api/members">} */
    const page = await fetchMembers(new URLSearchParams({ limit: String(PAGE), ...(after && { after }) }));
    after = page.next;
  } while (after || round !== greetings);
  complete.value = true;
}

/**
 * An author. Current members appear with their current name and avatar, and anyone else with the name and
 * avatar from when the message was posted.
 * @typedef {{kind?: string, id?: string, display_name: string, avatar?: string | null}} Writer
 */
/** @param {Writer} writer */
export const nameNow = ({ kind, id = "", display_name: then }) =>
  (kind === "member" && memberOf(id)?.nickname) || then;
/** @param {Writer} writer */
export const pictureNow = ({ kind, id = "", avatar = null }) =>
  kind === "member" ? (memberOf(id)?.avatar ?? null) : avatar;

/**
 * Return the member's highest role with a colour, which determines the member's colour.
 * @param {Pick<Member, "roles"> | null} [member]
 */
export function colouredRole(member) {
  return roles.value.find((role) => role.color !== null && member?.roles?.includes(role.id)) ?? null;
}

/**
 * Return a role's colour for CSS, "#rrggbb", or null.
 * @param {{color: number | string | null} | null} [role]
 */
export function colourOf(role) {
  return role?.color == null
    ? null
    : typeof role.color === "number"
      ? `#${role.color.toString(16).padStart(6, "0")}`
      : role.color;
}

/**
 * Return a role's name. Translate the name of a built-in role unless the role has been renamed.
 * @param {Pick<Role, "id" | "name" | "built_in">} role
 */
export function roleName({ id, name, built_in: builtIn }) {
  return builtIn && name.toLowerCase() === id ? t(`role-${id}`) : name;
}

/** Store members that the server has sent. @param {Member[]} received */
export function storeMembers(received) {
  const known = new Map(members.value);
  for (const member of received) known.set(member.id, member);
  members.value = known;
}

/** @param {string} id */
export const block = (id) => api("PUT", `/api/me/blocks/${encodeURIComponent(id)}`);
/** @param {string} id */
export const unblock = (id) => api("DELETE", `/api/me/blocks/${encodeURIComponent(id)}`);

/** @param {Member} member */
function put(member) {
  members.value = new Map(members.value).set(member.id, member);
}

/** Mark a member as newer than all pending responses. @param {string} id */
const markNewer = (id) => {
  if (onTheirWay) newer.add(id);
};

/** @param {Partial<Pick<Resumption, "online" | "idle" | "do_not_disturb">>} change */
function setPresences({ online: onlineIds, idle: untouched, do_not_disturb: undisturbed }) {
  online.value = new Set(onlineIds);
  idle.value = new Set(untouched);
  quiet.value = new Set(undisturbed);
}

/** @param {Ids} set @param {string} id @param {boolean} [isIn] */
const changed = (set, id, isIn) =>
  set.has(id) === Boolean(isIn) ? set : isIn ? new Set(set).add(id) : without(set, id);

/** @param {Ids} set @param {string} id */
function without(set, id) {
  return new Set([...set].filter((other) => other !== id));
}

listen({
  onGreeting(greeting) {
    roles.value = greeting.roles;
    blocked.value = new Set(greeting.blocked);
    // A greeting after a takeover omits the presences, because we already have them. Only changes follow, and
    // they do not include our own presence.
    if (greeting.online) setPresences(greeting);
    else quiet.value = changed(quiet.value, greeting.member.id, greeting.quiet);
    ownInvisible.value = greeting.invisible;
    put(greeting.member);
    unhurried(() => {
      complete.value = false;
      greetings += 1;
      newer.clear();
      requested.clear();
      members.value = new Map(member.value && [[member.value.id, member.value]]);
    });
  },
  onStoredScene(scene) {
    roles.value = scene.roles;
    members.value = new Map([[scene.member.id, scene.member]]);
  },
  onResumption(change) {
    setPresences(change);
  },
  onPush(event, data) {
    switch (event) {
      case "presence":
        online.value = changed(online.value, data.member_id, data.online);
        idle.value = changed(idle.value, data.member_id, data.idle);
        quiet.value = changed(quiet.value, data.member_id, data.do_not_disturb);
        break;
      case "quiet_changed":
        quiet.value = changed(quiet.value, member.value?.id ?? "", data.quiet);
        break;
      case "invisible_changed":
        ownInvisible.value = data.invisible;
        break;
      case "member_joined":
        markNewer(data.id);
        put(data);
        break;
      case "member_updated":
        markNewer(data.id);
        if (members.value.has(data.id) || complete.value || onTheirWay) put(data);
        break;
      case "member_left": {
        markNewer(data.member_id);
        const others = new Map(members.value);
        others.delete(data.member_id);
        members.value = others;
        break;
      }
      case "member_blocked":
        blocked.value = new Set(blocked.value).add(data.member_id);
        break;
      case "member_unblocked":
        blocked.value = without(blocked.value, data.member_id);
        break;
      case "role_created":
      case "role_updated":
        roles.value = [...roles.value.filter(({ id }) => id !== data.id), data].sort(
          (a, b) => b.rank - a.rank,
        );
        break;
      case "role_deleted":
        roles.value = roles.value.filter(({ id }) => id !== data.role_id);
        break;
      default:
    }
  },
  onSignOut() {
    members.value = new Map();
    roles.value = [];
    setPresences({});
    ownInvisible.value = false;
    blocked.value = new Set();
    complete.value = false;
  },
});
