// Rules about messages: those that there are, and what a new one begins with. The server judges messages; nothing
// here does.

/** @import { Signal } from "../../vendor/signals.js" */

/** @import { Rule } from "../../types/api.js" */
/** @import { Body } from "../../types/wire.js" */

import { signal } from "../../vendor/signals.js";
import { t } from "../../words/words.js";
import { api, listen } from "../server.js";

/**
 * A rule that is being written: without an id until it is saved.
 * @typedef {Omit<Rule, "id" | "created_by" | "created_at_ms" | "too_slow"> & Partial<Rule>} Wanted
 */

/** @type {Rule["kind"][]} */
export const KINDS = ["words", "links", "mentions", "repeats", "newcomers"];
/** @type {Rule["action"][]} */
export const ACTIONS = ["flag", "censor", "block", "timeout"];

/** @type {Omit<Wanted, "name" | "kind" | "action" | "enabled">} */
const USUAL = { words: [], allowed: [], most: 0, within_s: 0, timeout_s: 600, newcomer_s: 0, except_roles: [], except_channels: [] };
/** @type {{[kind: string]: Partial<Wanted>}} */
const OF_KIND = { mentions: { most: 5 }, repeats: { most: 3, within_s: 60 }, newcomers: { newcomer_s: 3600 } };

/** @param {Rule["kind"]} kind @returns {Wanted} */
export const newRule = (kind) => ({ ...USUAL, ...OF_KIND[kind], name: t(`rule-kind-${kind}`), kind, action: "flag", enabled: false });

const one = (/** @type {string} */ id) => /** @type {const} */ (`/api/automod/rules/${encodeURIComponent(id)}`);
/** All that there are, the oldest first; null until somebody has asked for them. Others who manage them change them too. @type {Signal<Rule[] | null>} */
export const rules = signal(null);
let heard = 0; // How often another change was pushed.
/** @returns {Promise<void>} */
export async function loadRules() {
  const before = heard;
  const { rules: all } = await api("GET", "/api/automod/rules");
  // What was pushed meanwhile may not be in the answer.
  if (heard !== before) return loadRules();
  rules.value = all;
}
/** Make it, or have the one that there is as `rule` says. @param {Wanted} rule */
export const saveRule = async (rule) => put(await (rule.id ? api("PUT", one(rule.id), sent(rule)) : api("POST", "/api/automod/rules", sent(rule))));
/** @param {string} id */
export const deleteRule = (id) => api("DELETE", one(id)).then(() => drop(id));

/** @param {Rule} rule */
function put(rule) {
  const others = (rules.value ?? []).filter(({ id }) => id !== rule.id);
  rules.value = [...others, rule].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** @param {string} ruleId */
function drop(ruleId) {
  rules.value = (rules.value ?? []).filter(({ id }) => id !== ruleId);
}

listen({
  greet() {
    if (rules.value) loadRules().catch(() => {});
  },
  hear(event, data) {
    if (event.startsWith("rule_")) heard += 1;
    if (!rules.value) return;
    if (event === "rule_created" || event === "rule_updated") put(data);
    if (event === "rule_deleted") drop(data.rule_id);
  },
  forget() {
    rules.value = null;
  },
});
/** What it would have found: {read, found, messages}. @param {Wanted} rule */
export const tryRule = (rule) => api("POST", "/api/automod/trial", sent(rule));

/** Without what does not apply: the server minds a number that is out of its bounds. @param {Wanted} wanted */
function sent({ id, created_by: by, created_at_ms: at, too_slow: slow, ...wanted }) {
  /** @type {Body<"POST", "/api/automod/rules">} */
  const rule = wanted;
  if (rule.kind !== "repeats") delete rule.within_s;
  if (!["repeats", "mentions"].includes(rule.kind)) delete rule.most;
  if (rule.action !== "timeout") delete rule.timeout_s;
  return rule;
}

/** What somebody typed, an entry a line. @param {string} typed */
export const entriesOf = (typed) => typed.split("\n").map((line) => line.trim()).filter(Boolean);

/** A text in pieces: those that were found, and those between: [{text, found}]. Places are counted in code points. @param {string} text @param {number[][]} places */
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
