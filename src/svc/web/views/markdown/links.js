// Which addresses a message may lead to, and which labels pretend to lead somewhere else. Knows no markdown.

const WEB = /^https?:\/\/[^\s/\\]/iu;
// What may follow the start of a bare address: no brackets, quotes or bars, which end something around it, and no
// punctuation of scripts that are written without spaces.
const BARE = /:\/\/[^\s<>[\]{}|"`^\\\u3000-\u303f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+/uy;
const ENDING = /[.,:;!?'*_~]+$/u;
const INVISIBLE = /[\p{Cf}\p{Cc}\u115f\u1160\u2800\u3164\uffa0]/gu;
const WITH_SCHEME = /(?:https?:\/{2}|www\.)\s*([^\s/?#:@\\]+)/iu;
const HOST_ALONE = /^((?:[\p{L}\p{N}-]+\.)+([\p{L}]{2,}))(?:[/:?#]\S*)?$/u;
// Ends of names of files, which are top-level domains too but are hardly meant as such: "README.md", "main.rs".
const FILES = new Set(["md", "py", "rs", "sh", "cc", "pl", "ps", "so", "mk", "ai", "mov", "zip", "js", "ts", "cs", "go", "net"]);
// Beside those of countries, which have two letters.
const DOMAINS = new Set(["com", "org", "net", "edu", "gov", "int", "mil", "info", "biz", "name", "app", "dev", "xyz", "online",
  "shop", "site", "store", "cloud", "chat", "games", "live", "tech", "example", "bank"]);

/**
 * The address if a browser may follow it from a message, else null: http and https alone, and nobody's name or
 * password before the host, which is there to be mistaken for it.
 * @param {string} text @returns {URL | null}
 */
export function webAddress(text) {
  if (!WEB.test(text)) return null;
  try {
    const url = new URL(text);
    return url.username || url.password || !url.hostname ? null : url;
  } catch {
    return null;
  }
}

/**
 * The address that goes on at the colon at `at`, without the full stop of the sentence; "" where there is none.
 * @param {string} text @param {number} at @param {number} end
 */
export function addressFrom(text, at, end) {
  BARE.lastIndex = at;
  const found = BARE.exec(text);
  return found ? withoutEnding(found[0].slice(0, end - at)) : "";
}

/** A bracket around an address is not part of it. @param {string} address @returns {string} */
function withoutEnding(address) {
  const shorter = address.replace(ENDING, "");
  let opened = shorter.split("(").length - shorter.split(")").length;
  let length = shorter.length;
  for (; opened < 0 && shorter[length - 1] === ")"; opened++) length--;
  return length === shorter.length ? shorter : withoutEnding(shorter.slice(0, length));
}

/**
 * Does a label look like an address at another host than the one that the link leads to?
 * @param {string} label @param {URL} url
 */
export function pretends(label, url) {
  const shown = label.normalize("NFKC").replace(INVISIBLE, "").trim();
  const host = WITH_SCHEME.exec(shown)?.[1] ?? hostAlone(shown);
  return Boolean(host) && !sameHost(host, url.hostname);
}

/** Has a label anything that can be seen? @param {string} label */
export const isVisible = (label) => Boolean(label.replace(INVISIBLE, "").trim());

/** Without the signs that turn the direction of what is around them. @param {string} text */
export const unturned = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/gu, "");

/** @param {string} label */
function hostAlone(label) {
  const [, host, last] = HOST_ALONE.exec(label) ?? [];
  const ending = last?.toLowerCase() ?? "";
  const isDomain = DOMAINS.has(ending) || (ending.length === 2 && !FILES.has(ending));
  return isDomain ? host : "";
}

/** @param {string | undefined} shown @param {string} real */
function sameHost(shown, real) {
  try {
    const named = new URL(`http://${shown}`).hostname.replace(/^www\./u, "");
    return real === named || real.endsWith(`.${named}`);
  } catch {
    return false;
  }
}
