// Sorts the member list: online members are grouped by their highest role and followed by the offline
// members, and each group is sorted by name. A search limits the list to matching names.

/** @import { Member, Role } from "../types/api.js" */

import { computed, signal } from "../vendor/signals.js";
import { foldCase } from "./name_search.js";
import { members, online, roles } from "./people.js";

const EVERYBODY = "member"; // The role that every member has.
const collator = new Intl.Collator();

/** The search text. */
export const wanted = signal("");

// Separate from presence, so that a presence change does not sort the names again.
const sorted = computed(() =>
  [...members.value.values()].sort((a, b) => collator.compare(a.nickname, b.nickname)),
);
const matching = computed(() => {
  const letters = foldCase(wanted.value);
  return letters ? sorted.value.filter(({ nickname }) => foldCase(nickname).includes(letters)) : sorted.value;
});

/**
 * @typedef {{key: string, role: Role | null, count: number, member?: undefined} | {key: string, member:
 *   Member, isOnline: boolean, role?: undefined}} Row
 */

/**
 * The rows of the list: {role, key, count} for a group's heading, where `role` can be null, and {member,
 * isOnline} for a member.
 */
export const roster = computed(() => rosterOf(matching.value, online.value, roles.value));

/**
 * @param {Iterable<Member>} people @param {Set<string>} onlineIds @param {Role[]} allRoles
 * @returns {Row[]}
 */
export function rosterOf(people, onlineIds, allRoles) {
  const shown = allRoles.filter(({ id }) => id !== EVERYBODY);
  /** @type {Map<string, Member[]>} */
  const groups = new Map([...shown.map(({ id }) => id), "here", "away"].map((key) => [key, []]));
  for (const member of people) groups.get(groupOf(member, onlineIds, shown))?.push(member);
  /** @type {Row[]} */
  const rows = [];
  for (const [key, group] of groups) {
    if (!group.length) continue;
    rows.push({ key, role: shown.find(({ id }) => id === key) ?? null, count: group.length });
    for (const member of group) rows.push({ key: member.id, member, isOnline: key !== "away" });
  }
  return rows;
}

/** @param {Pick<Member, "id" | "roles">} member @param {Set<string>} onlineIds @param {Role[]} shown */
function groupOf({ id, roles: own = [] }, onlineIds, shown) {
  if (!onlineIds.has(id)) return "away";
  return shown.find((role) => own.includes(role.id))?.id ?? "here";
}
