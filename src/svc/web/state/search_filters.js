// The filters of a search: which one is being written at the end of a query, and what can stand there. Pure functions.

import { matching } from "./matching.js";

/** @typedef {{filter: "from" | "in" | "has" | "before" | "after", wanted: string, start: number}} Begun `start`: where its value begins. */
/** @typedef {{members: Iterable<{nickname: string}>, channels: Iterable<{name: string}>}} Sources */

export const FILTERS = ["from:", "in:", "has:", "before:", "after:"];
/** As the server names them. */
const KINDS = ["link", "image", "video", "audio", "file", "card", "pin", "reaction"];
const MOST = 8;
const BEGUN = /(?:^|\s)-?(from|in|has|before|after):(?:"([^"]*)|([^"\s]*))$/u;

/** The filter at the end of a query that has no whole value yet; null for none. @param {string} query @returns {Begun | null} */
export function begun(query) {
  const found = BEGUN.exec(query);
  if (!found) return null;
  const [, filter, quoted, bare] = found;
  const value = quoted === undefined ? bare : `"${quoted}`;
  return { filter: /** @type {Begun["filter"]} */ (filter), wanted: quoted ?? bare, start: query.length - value.length };
}

/** What can stand there, the best first; nothing for a day. @param {Begun} begun @param {Sources} sources @returns {string[]} */
export function values({ filter, wanted }, { members, channels }) {
  if (filter === "from") return matching(members, wanted, ({ nickname }) => nickname, MOST).map(({ nickname }) => nickname);
  if (filter === "in") return matching(channels, wanted, ({ name }) => name, MOST).map(({ name }) => name);
  return filter === "has" ? matching(KINDS, wanted, (kind) => kind, MOST) : [];
}

/** The query with a value in that place, and room for more. @param {string} query @param {Begun} begun @param {string} value */
export const completed = (query, { start }, value) => `${query.slice(0, start)}${/\s/u.test(value) ? `"${value}"` : value} `;

/** The query with a filter behind it. @param {string} query @param {string} filter */
export const extended = (query, filter) => `${query.trimEnd()} ${filter}`.trimStart();
