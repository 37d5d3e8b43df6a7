// What one may write after "/" at the start of a message: some are put into words, some are done at once. Whatever
// else begins with "/" is a message like any other. Pure functions.

/**
 * @typedef {"shrug" | "tableflip" | "unflip" | "spoiler" | "nick" | "status"} Name
 * @typedef {{text: string} | {act: "nick" | "status", words: string}} Done The message that it becomes, or what is to be done.
 */

/** The signs of markdown in them are written so that they are read as they stand. @type {Record<string, string>} */
const FACES = { shrug: "¯\\\\\\_(ツ)\\_/¯", tableflip: "(╯°□°)╯︵ ┻━┻", unflip: "┬─┬ノ( º \\_ ºノ)" };
const WRITTEN = /^(\/\/?)([a-z]+)(?:\s+([\s\S]*))?$/u;

/** In the order in which they are offered; `permission` is what one needs for it. @type {{name: Name, permission?: string}[]} */
export const COMMANDS = [
  { name: "shrug" }, { name: "tableflip" }, { name: "unflip" }, { name: "spoiler" }, { name: "nick", permission: "change_nickname" }, { name: "status", permission: "change_nickname" },
];

/** What is being completed after "/", or null. @param {string} text @param {number} caret */
export function asking(text, caret) {
  const [, query] = /^\/([a-z]*)$/u.exec(text.slice(0, caret)) ?? [];
  return query === undefined ? null : { sign: /** @type {const} */ ("/"), query, start: 0, end: caret };
}

/** The commands that begin so, of those that are allowed. @param {string} query @param {(permission: string) => boolean} may */
export const commandsFor = (query, may) => COMMANDS.filter(({ name, permission }) => name.startsWith(query) && (!permission || may(permission)));

/** What comes of a text; null where it holds no command, or one without what it needs. @param {string} text @returns {Done | null} */
export function commanded(text) {
  const [, slash, name, words = ""] = WRITTEN.exec(text.trim()) ?? [];
  if (!COMMANDS.some((each) => each.name === name)) return null;
  if (slash === "//") return { text: text.trim().slice(1) };
  if (name === "status") return { act: name, words };
  if (name === "nick") return words ? { act: name, words } : null;
  if (name === "spoiler") return words ? { text: `||${words}||` } : null;
  return { text: [words, FACES[name]].filter(Boolean).join(" ") };
}
