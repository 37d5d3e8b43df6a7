// The owner's rules about messages: what a new one begins with, and what it says in a few words. The server judges
// messages; nothing here does.

import { t } from "../../words/words.js";
import { api } from "../server.js";

export const KINDS = ["words", "links", "mentions", "repeats", "newcomers"];
export const ACTIONS = ["flag", "censor", "block", "timeout"];

const USUAL = { words: [], allowed: [], most: 0, within_s: 0, timeout_s: 600, newcomer_s: 0, except_roles: [], except_channels: [] };
const OF_KIND = { mentions: { most: 5 }, repeats: { most: 3, within_s: 60 }, newcomers: { newcomer_s: 3600 } };

export const newRule = (kind) => ({ ...USUAL, ...OF_KIND[kind], name: t(`rule-kind-${kind}`), kind, action: "flag", enabled: false });

const one = (id) => `/api/automod/rules/${encodeURIComponent(id)}`;
export const rules = async () => (await api("GET", "/api/automod/rules")).rules;
/** Make it, or have the one that there is as `rule` says. */
export const saveRule = (rule) => api(rule.id ? "PUT" : "POST", rule.id ? one(rule.id) : "/api/automod/rules", sent(rule));
export const deleteRule = (id) => api("DELETE", one(id));
/** What it would have found: {read, found, messages}. */
export const tryRule = (rule) => api("POST", "/api/automod/trial", sent(rule));

/** Without what does not apply: the server minds a number that is out of its bounds. */
function sent({ id, created_by: by, created_at_ms: at, ...rule }) {
  if (rule.kind !== "repeats") delete rule.within_s;
  if (!["repeats", "mentions"].includes(rule.kind)) delete rule.most;
  if (rule.action !== "timeout") delete rule.timeout_s;
  return rule;
}

/** What somebody typed, an entry a line. */
export const entriesOf = (typed) => typed.split("\n").map((line) => line.trim()).filter(Boolean);

/** A text in pieces: those that were found, and those between: [{text, found}]. Places are counted in code points. */
export function pieces(text, places) {
  const all = [...text];
  const told = [];
  let at = 0;
  for (const [start, end] of places) {
    told.push({ text: all.slice(at, start).join(""), found: false }, { text: all.slice(start, end).join(""), found: true });
    at = end;
  }
  return [...told, { text: all.slice(at).join(""), found: false }].filter((piece) => piece.text);
}
