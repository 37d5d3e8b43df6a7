// Matches names against typed text and ranks the matches: at the start of the name first, then at the start
// of a word, then anywhere. Ignores case and accents. Contains only pure functions.

// Combining marks, such as accents, and invisible characters. U+0640 (tatweel) only stretches an Arabic word.
const MARKS = /[\p{M}\p{Cf}\u0640]+/gu;
// Letters that Unicode does not decompose, with their usual replacements. The server has the same table in
// chat/text_folding.py.
const ALIKE = new Map(
  Object.entries({
    ß: "ss",
    ø: "o",
    ł: "l",
    đ: "d",
    ð: "d",
    ħ: "h",
    æ: "ae",
    œ: "oe",
    ı: "i",
    þ: "th",
    ς: "σ",
    ى: "ي",
    ی: "ي",
    ک: "ك",
    ة: "ه",
  }),
);
const TYPED_OTHERWISE = new RegExp(`[${[...ALIKE.keys()].join("")}]`, "gu");
const WORD = /[\p{L}\p{N}]/u;
const MAX_CACHED = 20_000; // The maximum number of cached case-folded names. Every key press reads the cache.

const order = new Intl.Collator(undefined, { sensitivity: "base", numeric: true });
/** @type {Map<string, string>} */
const folded = new Map();

/**
 * Remove case, accents and other differences that a search ignores.
 * @param {string} text
 * @returns {string}
 */
export function foldCase(text) {
  const known = folded.get(text);
  if (known !== undefined) return known;
  const result = text
    .normalize("NFKD")
    .replace(MARKS, "")
    .toLowerCase()
    .replace(TYPED_OTHERWISE, (letter) => ALIKE.get(letter) ?? letter);
  if (folded.size >= MAX_CACHED) folded.clear();
  folded.set(text, result);
  return result;
}

/**
 * Return how well a case-folded name matches a case-folded query: 0 is best, and -1 means no match.
 * @param {string} name
 * @param {string} query
 */
export function fit(name, query) {
  let at = name.indexOf(query);
  if (at <= 0) return at;
  for (; at > 0; at = name.indexOf(query, at + 1)) if (!WORD.test(name[at - 1])) return 1;
  return 2;
}

/**
 * Return the matching items, best matches first, then by name. A query with spaces must match the start of
 * the name. Otherwise, text typed after a name would still match.
 * @template T @param {Iterable<T>} items @param {string} query @param {(item: T) => string} nameOf @param
 *   {number} limit
 * @returns {T[]}
 */
export function matching(items, query, nameOf, limit) {
  const wanted = foldCase(query);
  const worst = wanted.includes(" ") ? 0 : 2;
  /** @type {{item: T, fits: number, name: string}[]} */
  const matches = [];
  for (const item of items) {
    const name = nameOf(item);
    const fits = fit(foldCase(name), wanted);
    if (fits >= 0 && fits <= worst) matches.push({ item, fits, name });
  }
  matches.sort((a, b) => a.fits - b.fits || order.compare(a.name, b.name));
  return matches.slice(0, limit).map(({ item }) => item);
}
