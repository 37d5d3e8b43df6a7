// Interprets commands such as "/shrug" at the start of a message. Some commands are replaced with text, and
// others are executed. Any other text that begins with "/" is an ordinary message.

import { notify, tryOrNotify } from "./notices.js";
import { api, member } from "./server.js";
import { t } from "../words/words.js";

/**
 * @typedef {"shrug" | "tableflip" | "unflip" | "spoiler" | "nick" | "status"} Name
 * @typedef {{text: string} | {act: "nick" | "status", words: string}} Done The message to send, or the action
 *   to execute.
 */

/** The faces are escaped so that Markdown displays them literally. @type {Record<string, string>} */
const FACES = { shrug: "¯\\\\\\_(ツ)\\_/¯", tableflip: "(╯°□°)╯︵ ┻━┻", unflip: "┬─┬ノ( º \\_ ºノ)" };
const WRITTEN = /^(\/\/?)([a-z]+)(?:\s+([\s\S]*))?$/u;

/**
 * The commands in display order, each with the permission it requires, if any.
 * @type {{name: Name, permission?: string}[]}
 */
export const COMMANDS = [
  { name: "shrug" },
  { name: "tableflip" },
  { name: "unflip" },
  { name: "spoiler" },
  { name: "nick", permission: "change_nickname" },
  { name: "status", permission: "change_nickname" },
];

/**
 * Return the incomplete command name between "/" and the caret, or null.
 * @param {string} text
 * @param {number} caret
 */
export function commandAt(text, caret) {
  const [, query] = /^\/([a-z]*)$/u.exec(text.slice(0, caret)) ?? [];
  return query === undefined ? null : { sign: /** @type {const} */ ("/"), query, start: 0, end: caret };
}

/**
 * Return the allowed commands that start with `query`.
 * @param {string} query
 * @param {(permission: string) => boolean} hasPermission
 */
export const commandsFor = (query, hasPermission) =>
  COMMANDS.filter(
    ({ name, permission }) => name.startsWith(query) && (!permission || hasPermission(permission)),
  );

/**
 * Return the result of a message's command. Return null if the message contains no command, or a required
 * argument is missing.
 * @param {string} text
 * @returns {Done | null}
 */
export function commanded(text) {
  const [, slash, name, words = ""] = WRITTEN.exec(text.trim()) ?? [];
  if (!COMMANDS.some((command) => command.name === name)) return null;
  if (slash === "//") return { text: text.trim().slice(1) };
  if (name === "status") return { act: name, words };
  if (name === "nick") return words ? { act: name, words } : null;
  if (name === "spoiler") return words ? { text: `||${words}||` } : null;
  return { text: [words, FACES[name]].filter(Boolean).join(" ") };
}

const ACTS = {
  /** @param {string} id @param {string} words */
  nick: (id, words) => api("PATCH", `/api/members/${id}`, { nickname: words }),
  /** @param {string} id @param {string} words */
  status: (id, words) => api("PUT", `/api/members/${id}/status`, { text: words }),
};

/**
 * Run the command in a text, if any. Return the text to send, or null if there is none. `done` is called once
 * an action has been performed.
 * @param {string} text
 * @param {() => void} done
 */
export async function runCommand(text, done) {
  const what = commanded(text);
  if (!what) return text;
  if ("text" in what) return what.text;
  if (await tryOrNotify(ACTS[what.act](encodeURIComponent(member.value?.id ?? ""), what.words))) {
    notify(t("saved"), "done");
    done();
  }
  return null;
}
