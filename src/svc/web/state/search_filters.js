// Completes the search filter at the end of a query, and translates queries to the server's syntax. Filters
// and kinds have names in the member's language, but the server's names also work. Contains only pure
// functions.

import { fit, foldCase, matching } from "./name_search.js";

/** @typedef {"from" | "in" | "has" | "before" | "after"} Filter */
/**
 * @typedef {{filters: Record<Filter, string>, kinds: Record<string, string>}} FilterNames The names in the
 *   member's language, without the colon.
 */
/** @typedef {{filter: Filter, wanted: string, start: number}} Begun `start` is the position of the value. */
/** @typedef {{why: "kind" | "day" | "excluded", filter: Filter, value: string}} Wrong */
/** @typedef {{members: Iterable<{nickname: string}>, channels: Iterable<{name: string}>}} Sources */

/** @type {Filter[]} */
export const FILTERS = ["from", "in", "has", "before", "after"];
/** The values that the `has` filter accepts. */
export const KINDS = ["link", "image", "video", "audio", "file", "card", "pin", "reaction"];
const MAX_SUGGESTIONS = 8;
const MAX_NAMES = 4; // A query can have up to 256 characters, and a name up to 32.
// Japanese keyboards type the full-width colon.
const BEGUN = /(?:^|\s)-?(\p{L}+)[:：](?:"([^"]*)|([^"\s]*))$/u;
const TERM = /"[^"]*"|(?<!\S)(-?)(\p{L}+)[:：](?:"([^"]*)"|([^\s"]+))/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const UNSIGNED_WORD = /(?<![-\p{L}\p{N}\p{M}])[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/u;
const TIME = /^\d{4}-\d\d-\d\dT.+(?:Z|[+-]\d\d:\d\d)$/u;

/**
 * Return the incomplete filter at the end of a query, or null.
 * @param {string} query
 * @param {FilterNames} filterNames
 * @returns {Begun | null}
 */
export function begun(query, filterNames) {
  const [, typed, quoted, bare] = BEGUN.exec(query) ?? [];
  const filter = typed && meant(typed, FILTERS, filterNames.filters);
  if (!filter) return null;
  const value = quoted === undefined ? bare : `"${quoted}`;
  return { filter, wanted: quoted ?? bare, start: query.length - value.length };
}

/**
 * Return suggestions for the filter's value, best first. There are none for dates.
 * @param {Begun} begun
 * @param {Sources} sources
 * @param {FilterNames} filterNames
 * @returns {string[]}
 */
export function values({ filter, wanted }, { members, channels }, filterNames) {
  if (filter === "from")
    return matching(members, wanted, ({ nickname }) => nickname, MAX_SUGGESTIONS).map(
      ({ nickname }) => nickname,
    );
  if (filter === "in")
    return matching(channels, wanted, ({ name }) => name, MAX_SUGGESTIONS).map(({ name }) => name);
  return filter === "has"
    ? matching(
        KINDS.map((kind) => filterNames.kinds[kind]),
        wanted,
        (kind) => kind,
        MAX_SUGGESTIONS,
      )
    : [];
}

/**
 * Return the query with the value and a space inserted.
 * @param {string} query
 * @param {Begun} begun
 * @param {string} value
 */
export const completed = (query, { start }, value) => `${query.slice(0, start)}${asOne(value)} `;

/**
 * Return the query with a filter appended.
 * @param {string} query
 * @param {Filter} filter
 * @param {FilterNames} filterNames
 */
export const extended = (query, filter, filterNames) =>
  `${query.trimEnd()} ${filterNames.filters[filter]}:`.trimStart();

/**
 * Return the first filter that the server would reject, because of an unknown kind, an invalid date, or an
 * excluded date; null if there is none.
 * @param {string} query
 * @param {FilterNames} filterNames
 * @returns {Wrong | null}
 */
export function wrong(query, filterNames) {
  for (const [, sign, typed, quoted, bare] of query.matchAll(TERM)) {
    const filter = typed && meant(typed, FILTERS, filterNames.filters);
    const value = quoted ?? bare;
    if (filter === "has" && !meant(value, KINDS, filterNames.kinds)) return { why: "kind", filter, value };
    if (filter !== "before" && filter !== "after") continue;
    if (sign) return { why: "excluded", filter, value };
    if (timeOf(value, filter) === value && !(TIME.test(value) && !Number.isNaN(Date.parse(value))))
      return { why: "day", filter, value };
  }
  return null;
}

/**
 * Translate the query to the server's syntax. Days are in the member's time zone. A partial name matches all
 * members with a word in their name that begins with it.
 * @param {string} query @param {FilterNames} filterNames @param {Iterable<{nickname: string}>} [members]
 */
export function sent(query, filterNames, members = []) {
  return query.replace(TERM, (whole, sign, typed, quoted, bare) => {
    const filter = typed && meant(typed, FILTERS, filterNames.filters);
    if (!filter) return whole;
    const value = quoted ?? bare;
    if (filter === "has") return `${sign}has:${asOne(meant(value, KINDS, filterNames.kinds) ?? value)}`;
    if (filter === "from")
      return meantBy(value, members)
        .map((name) => `${sign}from:${asOne(name)}`)
        .join(" ");
    const isTime = filter === "before" || filter === "after";
    return `${sign}${filter}:${asOne(isTime ? timeOf(value, filter) : value)}`;
  });
}

/**
 * Return the query's search terms, case-folded, without filters or excluded words.
 * @param {string} query
 * @param {FilterNames} filterNames
 */
export function wantedWords(query, filterNames) {
  const isFilter = (/** @type {string} */ typed) => typed && meant(typed, FILTERS, filterNames.filters);
  const words = query.replace(TERM, (whole, _, typed) => (isFilter(typed) ? " " : whole));
  return [...words.matchAll(UNSIGNED_WORD)].map(([word]) => foldCase(word));
}

/**
 * Yield the start and end of each match in the text. A search term matches at the start of a word or, in
 * scripts without spaces, anywhere.
 * @param {string} text
 * @param {string[]} words The result of `wantedWords`.
 * @returns {Iterable<[number, number]>}
 */
export function* foundIn(text, words) {
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const known = foldCase(word);
    const isUnspaced = UNSPACED.test(word);
    for (const wanted of words) {
      const at = known.indexOf(wanted);
      if (at === 0 && !isUnspaced) yield [index, index + word.length];
      else if (at >= 0 && isUnspaced && known.length === word.length)
        yield [index + at, index + at + wanted.length];
    }
  }
}

/** @template {string} T @param {string} typed @param {T[]} known @param {Record<string, string>} names */
const meant = (typed, known, names) =>
  known.find((name) => [name, foldCase(names[name])].includes(foldCase(typed)));

/**
 * Return the name that matches the value exactly. If there is none, return all names with a word that begins
 * with the value.
 * @param {string} value
 * @param {Iterable<{nickname: string}>} members
 */
function meantBy(value, members) {
  const wanted = foldCase(value.replace(/^@/u, ""));
  const fitting = [...members]
    .map(({ nickname }) => nickname)
    .filter((name) => [0, 1].includes(fit(foldCase(name), wanted)));
  return !fitting.length || fitting.some((name) => foldCase(name) === wanted)
    ? [value]
    : [...new Set(fitting)].slice(0, MAX_NAMES);
}

/** @param {string} value */
const asOne = (value) => (/\s/u.test(value) ? `"${value}"` : value);

/**
 * Return the start of a day or, for "after", of the next day. Return an invalid date unchanged, so that the
 * server rejects it.
 * @param {string} value
 * @param {"before" | "after"} filter
 */
function timeOf(value, filter) {
  const [year, month, day] = DAY.exec(value)?.slice(1).map(Number) ?? [];
  const time = new Date(0);
  time.setHours(0, 0, 0, 0);
  time.setFullYear(year, month - 1, day);
  if (time.getMonth() !== month - 1 || time.getDate() !== day) return value;
  if (filter === "after") time.setDate(day + 1);
  return `${time.toISOString().slice(0, 16)}Z`;
}
