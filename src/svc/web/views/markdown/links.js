// Decides which URLs a message may link to, and which link labels pretend to be a different URL. Does not
// parse markdown.

const WEB = /^https?:\/\/[^\s/\\]/iu;
// Characters allowed after the scheme of a bare URL. Brackets, quotes and bars are excluded, because they may
// enclose the URL, and so is the punctuation of scripts without spaces.
const BARE = /:\/\/[^\s<>[\]{}|"`^\\\u3000-\u303f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+/uy;
const ENDING = /[.,:;!?'*_~]+$/u;
const INVISIBLE = /[\p{Cf}\p{Cc}\u115f\u1160\u2800\u3164\uffa0]/gu;
const WITH_SCHEME = /(?:https?:\/{2}|www\.)\s*([^\s/?#:@\\]+)/iu;
const HOST_ALONE = /^((?:[\p{L}\p{N}-]+\.)+([\p{L}]{2,}))(?:[/:?#]\S*)?$/u;
// File extensions that are also top-level domains, but usually name files: "README.md", "main.rs".
const FILES = new Set([
  "md",
  "py",
  "rs",
  "sh",
  "cc",
  "pl",
  "ps",
  "so",
  "mk",
  "ai",
  "mov",
  "zip",
  "js",
  "ts",
  "cs",
  "go",
  "net",
]);
// The accepted top-level domains, in addition to country domains, which have two letters.
const DOMAINS = new Set([
  "com",
  "org",
  "net",
  "edu",
  "gov",
  "int",
  "mil",
  "info",
  "biz",
  "name",
  "app",
  "dev",
  "xyz",
  "online",
  "shop",
  "site",
  "store",
  "cloud",
  "chat",
  "games",
  "live",
  "tech",
  "example",
  "bank",
]);

/**
 * Return the URL if a browser may follow it from a message, else null. Only http and https are allowed, and
 * no user name or password, which can disguise the host.
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
 * Return the URL around the colon at `at`, without a sentence's full stop; "" if there is none.
 * @param {string} text @param {number} at @param {number} end
 */
export function addressFrom(text, at, end) {
  BARE.lastIndex = at;
  const match = BARE.exec(text);
  return match ? withoutEnding(match[0].slice(0, end - at)) : "";
}

/** Remove a bracket that surrounds a URL. @param {string} address @returns {string} */
function withoutEnding(address) {
  const shorter = address.replace(ENDING, "");
  let opened = shorter.split("(").length - shorter.split(")").length;
  let length = shorter.length;
  for (; opened < 0 && shorter[length - 1] === ")"; opened++) length--;
  return length === shorter.length ? shorter : withoutEnding(shorter.slice(0, length));
}

/**
 * Return whether a label looks like a URL with a host other than the link's.
 * @param {string} label @param {URL} url
 */
export function pretends(label, url) {
  const shown = label.normalize("NFKC").replace(INVISIBLE, "").trim();
  const host = WITH_SCHEME.exec(shown)?.[1] ?? hostAlone(shown);
  return Boolean(host) && !sameHost(host, url.hostname);
}

/** Return whether a label contains anything visible. @param {string} label */
export const isVisible = (label) => Boolean(label.replace(INVISIBLE, "").trim());

/** Remove bidirectional control characters. @param {string} text */
export const withoutBidiControls = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/gu, "");

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
    const shownHost = new URL(`http://${shown}`).hostname.replace(/^www\./u, "");
    return real === shownHost || real.endsWith(`.${shownHost}`);
  } catch {
    return false;
  }
}
