// Computes the overrides that make a channel private or public again, in an order that the server accepts.
// Only selected roles and members can see a private channel. Sends no requests.

/** @import { Word } from "./permissions.js" */

/** @import { Override, Role } from "../../types/api.js" */

import { withWord } from "./permissions.js";

const SEEING = "view_channel";
/** @type {Pick<Override, "allow" | "deny">} */
const EMPTY = { allow: [], deny: [] };

/** Return whether any role is denied access. @param {Override[]} overrides */
export const isPrivate = (overrides) =>
  overrides.some(({ type, deny }) => type === "role" && deny.includes(SEEING));

/** Return the "role:ID" and "member:ID" keys that were granted access. @param {Override[]} overrides */
export const letIn = (overrides) => overrides.filter(({ allow }) => allow.includes(SEEING)).map(keyOf);

/** @param {Pick<Override, "type" | "target_id">} override */
export const keyOf = ({ type, target_id: id }) => `${type}:${id}`;

/**
 * Return the overrides to store so that only `wanted` can see the channel: first those that allow, then those
 * that deny.
 * @param {Override[]} overrides The existing overrides. @param {Set<string>} wanted Keys in the format that
 *   `letIn` returns.
 * @param {Role[]} roles All roles. @param {{id: string, roles: string[], rank: number, owner: boolean}} self
 */
export function madePrivate(overrides, wanted, roles, self) {
  const seen = new Set(wanted);
  // Managers cannot exclude themselves or roles at or above their own rank.
  if (!self.owner) {
    seen.add(`member:${self.id}`);
    for (const { id, rank, permissions } of roles)
      if (rank >= self.rank && id !== "owner" && permissions.includes(SEEING)) seen.add(`role:${id}`);
  }
  const byKey = new Map(overrides.map((override) => [keyOf(override), override]));
  const allowed = [...seen].map((key) => changed(byKey, key, "allow"));
  const shut = roles
    .filter(
      ({ id, permissions }) => id !== "owner" && permissions.includes(SEEING) && !seen.has(`role:${id}`),
    )
    .map(({ id }) => changed(byKey, `role:${id}`, "deny"));
  const dropped = letIn(overrides)
    .filter((key) => !seen.has(key) && !shut.some((override) => keyOf(override) === key))
    .map((key) => changed(byKey, key, "neutral"));
  return [...allowed, ...shut, ...dropped].filter(
    (override) => !sameOverride(override, byKey.get(keyOf(override))),
  );
}

/**
 * Return the overrides to store so that the channel is visible again to all members whose roles allow it.
 * @param {Override[]} overrides
 */
export function madeOpen(overrides) {
  const relevant = overrides.filter(({ allow, deny }) => allow.includes(SEEING) || deny.includes(SEEING));
  // Remove denials first, so that nobody loses access in between.
  return relevant
    .sort((a, b) => Number(b.deny.includes(SEEING)) - Number(a.deny.includes(SEEING)))
    .map((override) => withWord(override, SEEING, "neutral"));
}

/** @param {Map<string, Override>} byKey @param {string} key @param {Word} word @returns {Override} */
function changed(byKey, key, word) {
  const [type, id] = /** @type {[Override["type"], string]} */ (key.split(/:(.*)/s));
  return withWord(byKey.get(key) ?? { type, target_id: id, ...EMPTY }, SEEING, word);
}

/** @param {Override} a @param {Override} [b] */
function sameOverride(a, b) {
  return (
    b !== undefined &&
    a.allow.length === b.allow.length &&
    a.deny.length === b.deny.length &&
    a.allow.every((name) => b.allow.includes(name)) &&
    a.deny.every((name) => b.deny.includes(name))
  );
}
