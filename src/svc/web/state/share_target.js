// Reads content that other applications share with the installed page. The service worker has cached the
// content.

const TEXT = "/shared/text";

/**
 * Read {text, files, from} from the cache. `from` is the host of the site that shared the content, or "" for
 * any other application. Return null if nothing was shared. @param {string} cacheName
 */
export async function takeShared(cacheName) {
  if (!globalThis.caches || !(await caches.has(cacheName))) return null;
  const cache = await caches.open(cacheName);
  /** @type {{text: string, files: File[], from: string}} */
  const shared = { text: "", files: [], from: "" };
  for (const request of await cache.keys()) {
    const answer = await cache.match(request);
    if (!answer) continue;
    if (new URL(request.url).pathname === TEXT) {
      shared.text = await answer.text();
      shared.from = answer.headers.get("X-From") ?? "";
    } else shared.files.push(await fileOf(answer));
  }
  return shared.text || shared.files.length ? shared : null;
}

/** @param {Response} answer */
async function fileOf(answer) {
  const name = decodeURIComponent(answer.headers.get("X-Name") ?? "file");
  return new File([await answer.blob()], name, { type: answer.headers.get("Content-Type") ?? "" });
}
