// Loads, saves and tests automod rules, and provides defaults for a new rule. Only the server applies the
// rules.

/** @import { Signal } from "../../vendor/signals.js" */

/** @import { Rule } from "../../types/api.js" */
/** @import { Body } from "../../types/wire.js" */

import { signal } from "../../vendor/signals.js";
import { t } from "../../words/words.js";
import { api, listen } from "../server.js";

/**
 * A rule that is being edited. It has no id until it is saved.
 * @typedef {Omit<Rule, "id" | "created_by" | "created_at_ms" | "too_slow"> & Partial<Rule>} Wanted
 */

/** @type {Rule["kind"][]} */
export const KINDS = ["words", "links", "mentions", "repeats", "newcomers"];
/** @type {Rule["action"][]} */
export const ACTIONS = ["flag", "censor", "block", "timeout"];

/** @type {Omit<Wanted, "name" | "kind" | "action" | "enabled">} */
const DEFAULTS = {
  words: [],
  allowed: [],
  most: 0,
  within_s: 0,
  timeout_s: 600,
  newcomer_s: 0,
  except_roles: [],
  except_channels: [],
};
/** @type {{[kind: string]: Partial<Wanted>}} */
const OF_KIND = {
  mentions: { most: 5 },
  repeats: { most: 3, within_s: 60 },
  newcomers: { newcomer_s: 3600 },
};

/** @param {Rule["kind"]} kind @returns {Wanted} */
export const newRule = (kind) => ({
  ...DEFAULTS,
  ...OF_KIND[kind],
  name: t(`rule-kind-${kind}`),
  kind,
  action: "flag",
  enabled: false,
});

const rulePath = (/** @type {string} */ id) =>
  /** @type {const} */ (`/api/automod/rules/${encodeURIComponent(id)}`);
/**
 * All rules, oldest first; null until they are first needed. Other managers can also change them.
 * @type {Signal<Rule[] | null>}
 */
export const rules = signal(null);
let pushes = 0; // The number of events about rules that have been pushed so far.
/** @returns {Promise<void>} */
export async function loadRules() {
  const before = pushes;
  const { rules: all } = await api("GET", "/api/automod/rules");
  // The response may not include changes that were pushed in the meantime.
  if (pushes !== before) return loadRules();
  rules.value = all;
}
/** Create a rule, or update it if it has an id. @param {Wanted} rule */
export const saveRule = async (rule) =>
  put(
    await (rule.id
      ? api("PUT", rulePath(rule.id), sent(rule))
      : api("POST", "/api/automod/rules", sent(rule))),
  );
/** @param {string} id */
export const deleteRule = (id) => api("DELETE", rulePath(id)).then(() => drop(id));

/** @param {Rule} rule */
function put(rule) {
  const others = (rules.value ?? []).filter(({ id }) => id !== rule.id);
  rules.value = [...others, rule].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** @param {string} ruleId */
function drop(ruleId) {
  rules.value = (rules.value ?? []).filter(({ id }) => id !== ruleId);
}

listen({
  onGreeting() {
    if (rules.value) loadRules().catch(() => {});
  },
  onPush(event, data) {
    if (event.startsWith("rule_")) pushes += 1;
    if (!rules.value) return;
    if (event === "rule_created" || event === "rule_updated") put(data);
    if (event === "rule_deleted") drop(data.rule_id);
  },
  onSignOut() {
    rules.value = null;
  },
});
/** Test a rule against past messages. Resolves with {read, found, messages}. @param {Wanted} rule */
export const tryRule = (rule) => api("POST", "/api/automod/trial", sent(rule));

/**
 * Remove fields that do not apply, because the server rejects out-of-range numbers even in such fields.
 * @param {Wanted} wanted
 */
function sent({ id, created_by: by, created_at_ms: at, too_slow: slow, ...wanted }) {
  /** @type {Body<"POST", "/api/automod/rules">} */
  const rule = wanted;
  if (rule.kind !== "repeats") delete rule.within_s;
  if (!["repeats", "mentions"].includes(rule.kind)) delete rule.most;
  if (rule.action !== "timeout") delete rule.timeout_s;
  return rule;
}

/** Return the entries in a text field, one per line. @param {string} typed */
export const entriesOf = (typed) =>
  typed
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/**
 * Split text into matches and the text between them: [{text, isMatch}]. `spans` counts code points.
 * @param {string} text
 * @param {number[][]} spans
 */
export function pieces(text, spans) {
  const all = [...text];
  const pieces = [];
  let at = 0;
  for (const [start, end] of spans) {
    pieces.push(
      { text: all.slice(at, start).join(""), isMatch: false },
      { text: all.slice(start, end).join(""), isMatch: true },
    );
    at = end;
  }
  return [...pieces, { text: all.slice(at).join(""), isMatch: false }].filter((piece) => piece.text);
}
