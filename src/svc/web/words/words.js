// Provides the page's strings in the language chosen by the member or the browser, from one Fluent catalogue
// per language. Every view gets its strings from `t`. Does not depend on state or views.

/** @import { ErrorBody } from "../types/wire.js" */

import { storeValue, storedText } from "../transport/browser_storage.js";
import { FluentBundle, FluentResource } from "../vendor/fluent.js";

// In localStorage: the chosen language. Without a choice, the browser's languages decide. A cookie with the
// same name contains the resulting language. The server delivers the page in that language and preloads its
// catalogue.
const CHOSEN = "svc.language";
const COOKIE_S = 400 * 86400; // The maximum that browsers allow.

/** The available languages, each with its name in that language. */
export const LANGUAGES = { de: "Deutsch", en: "English", es: "Español", fr: "Français", ja: "日本語" };

let bundle = new FluentBundle("en");

/** Return the language of the page, for `Intl` and the `lang` attribute. */
export const language = () => bundle.locales[0];

/** Return the language that the member chose, or null for the browser's. */
export const chosenLanguage = () => storedText(CHOSEN);

/**
 * Choose a language, or null for the browser's language. The choice takes effect when the page is next
 * loaded.
 * @param {string | null} name
 */
export function chooseLanguage(name) {
  storeValue(CHOSEN, name);
  requestPageIn(wantedLanguage());
}

function wantedLanguage() {
  const wanted = [chosenLanguage(), ...navigator.languages].map((name) => name?.split("-")[0]);
  return wanted.find((language) => language && Object.hasOwn(LANGUAGES, language)) ?? "en";
}

/** @param {string} name */
function requestPageIn(name) {
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox 139 has no Cookie Store API.
  document.cookie = `${CHOSEN}=${name}; path=/; max-age=${COOKIE_S}; samesite=lax`;
}

/**
 * Fetch the catalogue of the member's language, or the English catalogue if that fails. The server fills in
 * missing strings in English.
 */
export async function loadWords() {
  const name = wantedLanguage();
  if (document.documentElement.lang !== name) requestPageIn(name);
  bundle = (await catalogue(name)) ?? (await catalogue("en")) ?? bundle;
  document.documentElement.lang = name;
}

/**
 * Return the string for a key with its placeholders filled in. If there is no string, return the key.
 * @param {string} id @param {Record<string, string | number | Date>} [args] @returns {string}
 */
export function t(id, args) {
  const message = bundle.getMessage(id);
  return message?.value ? bundle.formatPattern(message.value, args, []) : id;
}

/** Return whether there is a string with this key. @param {string} id */
export const knows = (id) => Boolean(bundle.getMessage(id)?.value);

/**
 * Describe an error in the member's language. If there is no string for its code, return the server's
 * message.
 * @param {unknown} error A Refusal, or any other thrown value.
 */
export function explain(error) {
  const { code, message, details } = /** @type {{code?: string, message: string, details?: ErrorBody}} */ (
    error
  );
  const id = `error-${String(code ?? "").replaceAll("_", "-")}`;
  return knows(id) ? t(id, { message, rule: details?.rule ?? "", ...numbers(details) }) : message;
}

/**
 * Format a size, such as "1.5 MB". A size below one kilobyte is shown as a fraction of a kilobyte.
 * @param {number} count
 */
export function bytesOf(count) {
  const units = ["kilobyte", "megabyte", "gigabyte", "terabyte"];
  const at = Math.max(
    0,
    units.findLastIndex((_, power) => count >= 1000 ** (power + 1)),
  );
  return new Intl.NumberFormat(language(), {
    style: "unit",
    unit: units[at],
    maximumFractionDigits: 1,
  }).format(count / 1000 ** (at + 1));
}

/** Format a list: "Ada, Grace and Alan". @param {Iterable<string>} names */
export const formatList = (names) => new Intl.ListFormat(language()).format(names);

/** @param {Partial<ErrorBody>} [details] */
function numbers(details = {}) {
  const { retry_after_ms: waitMs = 0, limit = 0 } = details;
  // File size limits are set in megabytes of 1,048,576 bytes.
  return { seconds: Math.ceil(waitMs / 1000), limit, size: bytesOf(limit / 1.048576) };
}

/** @param {string} name */
async function catalogue(name) {
  const answer = await fetch(new URL(`${name}.ftl`, import.meta.url)).catch(() => null);
  if (!answer?.ok) return null;
  const made = new FluentBundle(name, { useIsolating: false });
  made.addResource(new FluentResource(await answer.text()));
  return made;
}
