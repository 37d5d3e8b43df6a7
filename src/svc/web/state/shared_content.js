// Content that was shared with the installed page, or is being forwarded from a channel, and waits for a
// target channel. The service worker keeps shared content until this module takes it.

/** @import { Message } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { draftOf, write } from "./drafts.js";
import { escaped, shortened } from "./mention_text.js";
import { addressOf, open } from "./navigation.js";
import { nameNow } from "./people.js";
import { listen } from "./server.js";
import { uploadsOf } from "./uploads.js";
import { signal } from "../vendor/signals.js";

/**
 * The content to share, or null. `from` is absent for messages that this page forwards.
 * @type {Signal<{text: string, files: File[], from?: string} | null>}
 */
export const shared = signal(null);

/** Add the content to this channel's draft. Return whether all files had room. @param {string} channelId */
export function shareInto(channelId) {
  const { text, files } = shared.value ?? { text: "", files: [] };
  const before = draftOf(channelId).text.value;
  open(channelId);
  if (text) write(channelId, before ? `${before}\n${text}` : text);
  shared.value = null;
  return !files.length || uploadsOf(channelId).add(files);
}

/**
 * Ask for the channel in which to quote a message, with a link to it. Nobody is mentioned again.
 * @param {Message} message
 */
export function forward({ author, text, channel_id: channelId, id }) {
  /** @type {Map<string, string>} */
  const names = new Map();
  const short = shortened(text, names);
  // Otherwise the field would turn names that it knows into mentions again.
  const plain = [...names.keys()].reduce((now, name) => now.replaceAll(name, `\\${name}`), short);
  const lines = [`**${escaped(nameNow(author))}**`, ...plain.split("\n").filter((line, at) => at || line)];
  shared.value = {
    text: `${lines.map((line) => `> ${line}`).join("\n")}\n${addressOf(channelId, id)}`,
    files: [],
  };
}

export const dropWhatIsShared = () => {
  shared.value = null;
};

async function take() {
  const hash = new URLSearchParams(location.hash.slice(1));
  if (!hash.has("shared")) return;
  hash.delete("shared");
  history.replaceState(history.state, "", hash.size ? `#${hash}` : location.pathname);
  shared.value = await takeShared();
}

globalThis.addEventListener?.("hashchange", () => {
  take();
});

listen({
  greet: take,
  forget() {
    shared.value = null;
    dropShared().catch(() => {});
  },
});

const SHARED = "shared"; // The cache; sw.js fills it.
const TEXT = "/shared/text";

/**
 * Take {text, files, from} from the cache. `from` is the host of the site that shared it, "" for others. Null
 * if there is nothing.
 */
export async function takeShared() {
  if (!globalThis.caches || !(await caches.has(SHARED))) return null;
  const cache = await caches.open(SHARED);
  /** @type {{text: string, files: File[], from: string}} */
  const found = { text: "", files: [], from: "" };
  for (const request of await cache.keys()) {
    const answer = await cache.match(request);
    if (!answer) continue;
    if (new URL(request.url).pathname === TEXT) {
      found.text = await answer.text();
      found.from = answer.headers.get("X-From") ?? "";
    } else found.files.push(await fileOf(answer));
  }
  await dropShared();
  return found.text || found.files.length ? found : null;
}

export const dropShared = async () => {
  await globalThis.caches?.delete(SHARED);
};

/** @param {Response} answer */
async function fileOf(answer) {
  const name = decodeURIComponent(answer.headers.get("X-Name") ?? "file");
  return new File([await answer.blob()], name, { type: answer.headers.get("Content-Type") ?? "" });
}
