// Decides which URLs a message may link to, and detects link labels that look like a different URL. Does not
// parse Markdown.

const WEB = /^https?:\/\/[^\s/\\]/iu;
// Characters allowed after the scheme of a bare URL. Brackets, quotes and bars are excluded because they may
// enclose the URL. CJK punctuation is excluded because it follows URLs without a space.
const BARE = /:\/\/[^\s<>[\]{}|"`^\\\u3000-\u303f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+/uy;
const ENDING = /[.,:;!?'*_~]+$/u;
const INVISIBLE = /[\p{Cf}\p{Cc}\u115f\u1160\u2800\u3164\uffa0]/gu;
const WITH_SCHEME = /(?:https?:\/{2}|www\.)\s*([^\s/?#:@\\]+)/iu;
const HOST_ALONE = /^((?:[\p{L}\p{N}-]+\.)+([\p{L}]{2,}))(?:[/:?#]\S*)?$/u;
// File extensions that are also top-level domains but usually refer to files, as in "README.md" or "main.rs".
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
// The accepted top-level domains besides country domains, which have two letters.
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
 * Return the URL if it is allowed in a message, otherwise null. Only http and https are allowed. A user name
 * or password is not allowed, because it can disguise the host.
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
 * Return the rest of a URL from the colon at `at`, without punctuation that ends a sentence. Return "" if
 * there is no URL.
 * @param {string} text @param {number} at @param {number} end
 */
export function addressFrom(text, at, end) {
  BARE.lastIndex = at;
  const match = BARE.exec(text);
  return match ? withoutEnding(match[0].slice(0, end - at)) : "";
}

/**
 * Remove punctuation and unmatched closing brackets from the end of a URL.
 * @param {string} address
 * @returns {string}
 */
function withoutEnding(address) {
  const shorter = address.replace(ENDING, "");
  let opened = shorter.split("(").length - shorter.split(")").length;
  let length = shorter.length;
  for (; opened < 0 && shorter[length - 1] === ")"; opened++) length--;
  return length === shorter.length ? shorter : withoutEnding(shorter.slice(0, length));
}

/**
 * Return whether a label looks like a URL with a different host from the link's.
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
