// Content that other applications have shared with the installed page: the service worker keeps it until this
// module takes it.

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
