// Loads all emoji on first use, and searches them by name, label and keywords in the user's language. Renders
// nothing.

import { fit, foldCase, matching } from "../../state/name_search.js";
import { signal } from "../../vendor/signals.js";
import { language } from "../../words/words.js";

/**
 * @typedef {object} Item
 * @property {string} sign The text to insert: the character, or `:name:` for a custom emoji.
 * @property {string} label The label, read by screen readers.
 * @property {string} name The name, as in `:name:`.
 * @property {string} [url] The image's URL, for a custom emoji.
 * @property {number} [group] The Unicode group, one of GROUPS.
 * @property {string} [toned] The character in the medium skin tone, if it supports skin tones.
 * @property {string[]} [names] All names, including `name`.
 * @property {string} [words] Search words.
 */
/** @typedef {Map<string, {name?: string, url: string}>} ServerEmoji The server's custom emoji by name. */

export const GROUPS = [0, 1, 3, 4, 5, 6, 7, 8, 9];
export const TONES = ["", "🏻", "🏼", "🏽", "🏾", "🏿"];
const MEDIUM = "🏽";
const LANGUAGES = ["en", "de", "fr", "es", "ja"];
const MAX_FOUND = 160;
const BY_WORD = 3; // A match by keyword ranks below any match by name or label.

/** All emoji as items, or null until the catalogue has loaded. */
export const catalogue = signal(/** @type {Item[] | null} */ (null));
/** Whether loading the catalogue failed. */
export const failed = signal(false);

/** @type {Promise<void> | null} */
let pending = null;

/**
 * Load the catalogue if it is not loaded yet.
 * @param {string} [name] The language code.
 * @returns {Promise<void>}
 */
export function load(name = language()) {
  failed.value = false;
  pending ??= fetched(LANGUAGES.includes(name) ? name : "en").catch(() => {
    pending = null;
    failed.value = true;
  });
  return pending;
}

/** @param {string} name */
async function fetched(name) {
  const [{ default: signs }, { default: words }] = await Promise.all([
    import("../../vendor/emoji/signs.js"),
    import(`../../vendor/emoji/${name}.js`),
  ]);
  catalogue.value = /** @type {[sign: string, group: number, toned: string, names: string][]} */ (signs).map(
    ([sign, group, toned, names], index) => {
      const all = names.split(" ");
      const [label, more] = words[index];
      return { sign, group, toned, name: all[0], names: all, label, words: more };
    },
  );
}

/** Return the server's custom emoji as items. @param {ServerEmoji} emoji @returns {Item[]} */
export const ownItems = (emoji) =>
  Array.from(emoji, ([name, { url }]) => ({ sign: `:${name}:`, label: `:${name}:`, name, url }));

/** Return the emoji in a skin tone, where 0 is the default tone. @param {Item} item @param {number} tone */
export const inTone = ({ sign, toned }, tone) =>
  tone && toned ? toned.replaceAll(MEDIUM, TONES[tone]) : sign;

/**
 * Return the items that match all words in a query, custom emoji first.
 * @param {string} query
 * @param {Item[]} own
 * @param {Item[]} all
 * @returns {Item[]}
 */
export function search(query, own, all) {
  const wanted = foldCase(query.replaceAll(":", " "))
    .split(/[\s_]+/u)
    .filter(Boolean);
  return [...bestMatches(own, wanted), ...bestMatches(all, wanted)].slice(0, MAX_FOUND);
}

/**
 * Return the best matches for an incomplete name such as `:na`, custom emoji first. Until the catalogue has
 * loaded, return only custom emoji. Components and computed signals that call this function are updated once
 * it has loaded.
 * @param {string} prefix @param {ServerEmoji} serverEmoji @param {number} limit @param {number} [tone]
 * @returns {{name: string, label: string, character?: string, url?: string}[]}
 */
export function find(prefix, serverEmoji, limit, tone = 0) {
  if (!catalogue.value) load();
  const own = matching(ownItems(serverEmoji), prefix, ({ name }) => name, limit);
  const others = bestMatches(catalogue.value ?? [], [foldCase(prefix)]).slice(0, limit - own.length);
  return [
    ...own.map(({ name, label, url }) => ({ name, label, url })),
    ...others.map((item) => ({ name: item.name, label: item.label, character: inTone(item, tone) })),
  ];
}

/**
 * Return the standard emoji with exactly this name, if the catalogue is loaded and no custom emoji has the
 * name.
 * @param {string} name
 * @param {ServerEmoji} serverEmoji
 */
export function signOf(name, serverEmoji, tone = 0) {
  const item = serverEmoji.has(name)
    ? undefined
    : catalogue.value?.find(({ names }) => names?.includes(name));
  return item && inTone(item, tone);
}

/** @param {Item[]} items @param {string[]} wanted @returns {Item[]} */
function bestMatches(items, wanted) {
  /** @type {{item: Item, fits: number}[]} */
  const fitting = [];
  for (const item of items) {
    const fits = wanted.map((word) => fitOf(item, word));
    if (fits.length && !fits.includes(-1))
      fitting.push({ item, fits: fits.reduce((sum, score) => sum + score, 0) });
  }
  // The sort is stable, so equally good matches stay in Unicode order.
  return fitting.sort((a, b) => a.fits - b.fits).map(({ item }) => item);
}

/** @param {Item} item @param {string} word @returns {number} */
function fitOf({ name, names = [name], label, words = "" }, word) {
  const best = Math.min(
    ...[...names, label].map((name) => fit(foldCase(name), word)).map((fits) => (fits < 0 ? Infinity : fits)),
  );
  if (best < Infinity) return best;
  return foldCase(words)
    .split(" ")
    .some((part) => part.startsWith(word))
    ? BY_WORD
    : -1;
}
