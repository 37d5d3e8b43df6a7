// The members and their roles, who is there, and whom we have blocked. Somebody whom we have not met yet is
// asked for when their name is wanted.

import { computed, signal } from "../vendor/signals.js";
import { api, listen } from "./server.js";

const PAGE = 200;

/** By id, those that we know of. */
export const members = signal(new Map());
/** All of them? */
export const complete = signal(false);
/** The highest first. */
export const roles = signal([]);
export const rolesById = computed(() => new Map(roles.value.map((role) => [role.id, role])));
/** Ids of those who are there, and of those whom we have blocked. */
export const online = signal(new Set());
export const blocked = signal(new Set());

const asked = new Set();
let loading = null;
let greetings = 0; // How often we were told everything.

/** The member with this id, or null until the server has told. */
export function memberOf(id) {
  const known = members.value.get(id);
  if (!known && !asked.has(id)) {
    asked.add(id);
    api("GET", `/api/members/${encodeURIComponent(id)}`).then(put, () => {});
  }
  return known ?? null;
}

/** Fetch all members, once. */
export function loadMembers() {
  if (complete.value) return Promise.resolve();
  loading ??= fetchAll().finally(() => { loading = null; });
  return loading;
}

async function fetchAll() {
  let [round, after] = [null, null];
  do {
    // What was fetched before everything was told anew is gone.
    if (round !== greetings) [round, after] = [greetings, null];
    const { members: page, next } = await api("GET", `/api/members?limit=${PAGE}${after ? `&after=${encodeURIComponent(after)}` : ""}`);
    meet(page);
    after = next;
  } while (after || round !== greetings);
  complete.value = true;
}

/** The role whose colour a member has: the highest that has one. */
export function colouredRole(member) {
  return roles.value.find((role) => role.color !== null && member?.roles?.includes(role.id)) ?? null;
}

/** Names of roles in CSS: "#rrggbb", or null. */
export function colourOf(role) {
  return role?.color == null ? null : typeof role.color === "number" ? `#${role.color.toString(16).padStart(6, "0")}` : role.color;
}

/** Know these too, as the server has just told. */
export function meet(told) {
  members.value = new Map([...members.value, ...told.map((each) => [each.id, each])]);
}

export const block = (id) => api("PUT", `/api/me/blocks/${encodeURIComponent(id)}`);
export const unblock = (id) => api("DELETE", `/api/me/blocks/${encodeURIComponent(id)}`);

function put(member) {
  members.value = new Map(members.value).set(member.id, member);
}

function without(set, id) {
  return new Set([...set].filter((each) => each !== id));
}

listen({
  greet(greeting) {
    roles.value = greeting.roles;
    blocked.value = new Set(greeting.blocked);
    online.value = new Set(greeting.online);
    complete.value = false;
    greetings += 1;
    asked.clear();
    members.value = new Map([[greeting.member.id, greeting.member]]);
  },
  recall(scene) {
    roles.value = scene.roles;
    members.value = new Map([[scene.member.id, scene.member]]);
  },
  resume(present) {
    online.value = new Set(present.online);
  },
  hear(event, data) {
    switch (event) {
      case "presence":
        online.value = data.online ? new Set(online.value).add(data.member_id) : without(online.value, data.member_id);
        break;
      case "member_joined":
        put(data);
        break;
      case "member_updated":
        if (members.value.has(data.id) || complete.value) put(data);
        break;
      case "member_left": {
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
        roles.value = [...roles.value.filter(({ id }) => id !== data.id), data].sort((one, other) => other.rank - one.rank);
        break;
      case "role_deleted":
        roles.value = roles.value.filter(({ id }) => id !== data.role_id);
        break;
      default:
    }
  },
  forget() {
    members.value = new Map();
    roles.value = [];
    online.value = new Set();
    blocked.value = new Set();
    complete.value = false;
  },
});
