// Implements the service worker, which caches the page's files for offline use, shows notifications, and
// receives content shared by other applications. It stores no personal data except shared content that the
// page has not read yet.

/** @import { NotificationTarget, NotificationContent } from "./types/wire.js" */

// The server inserts the page's version and the list of its startup files.
const VERSION = "{{version}}";
const FILES = "{{files}}".split(" ");

const SHELL = `shell-${VERSION}`;
const WORDS = "words"; // Strings in the page's language, from transport/service_worker_registration.js.
const SHARED = "shared"; // Shared content, which state/shared_content.js reads and deletes.
const PATIENCE_MS = 3000; // After this time without a response, show the cached page.
const MAX_TEXT = 200;
const MAX_SHARED_TEXT = 4000; // The maximum number of characters in a message.
const MAX_SHARED_FILES = 10; // The maximum number of files in a message.
const MAX_SHARED_BYTES = 256 * 1024 * 1024; // Enough for several videos from a phone.

// TypeScript cannot tell that this script is a service worker.
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(["/", ...FILES])));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => worker.clients.claim()));
});

worker.addEventListener("message", (event) => {
  if (event.data === "update") worker.skipWaiting();
  // A hidden page shows its notifications through this worker, in the same way as pushes.
  if (event.data?.ring) event.waitUntil(ring(event.data.ring));
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== worker.location.origin) return;
  if (request.method === "POST" && url.pathname === "/share") event.respondWith(share(request));
  else if (request.method !== "GET") return;
  else if (request.mode === "navigate" && url.pathname === "/") event.respondWith(page(request));
  else if (url.pathname.startsWith("/web/")) event.respondWith(file(request));
});

worker.addEventListener("push", (event) => event.waitUntil(ring(event.data?.json() ?? {})));

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

async function forgetOthers() {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith("shell-") && name !== SHELL).map((name) => caches.delete(name)),
  );
}

/**
 * Fetch the page, or return the cached page if the network or the server is unavailable.
 * @param {Request} request
 */
async function page(request) {
  const cached = await caches.match("/", { cacheName: SHELL });
  try {
    const signal = cached ? AbortSignal.timeout(PATIENCE_MS) : undefined;
    const answer = await fetch(request.url, { signal, cache: "no-cache" });
    return answer.status < 500 || !cached ? answer : cached;
  } catch (error) {
    if (cached) return cached;
    throw error;
  }
}

/** @param {Request} request */
async function file(request) {
  const cached = await caches.match(request);
  if (cached) return cached;
  const answer = await fetch(request).catch(() =>
    caches.match(request.url.replace("/web/", `/web/${VERSION}/`)),
  );
  if (!answer) return Response.error();
  // Files that are not loaded at startup, such as another language, are cached on first use.
  if (answer.ok && new URL(request.url).pathname.startsWith(`/web/${VERSION}/`)) {
    const copy = answer.clone();
    caches
      .open(SHELL)
      .then((cache) => cache.put(request, copy))
      .catch(() => {});
  }
  return answer;
}

/**
 * Store shared content until the page reads it, usually immediately. Any site can submit this form, so its
 * size is limited, and the page asks the member before it shows the content.
 * @param {Request} request
 */
async function share(request) {
  await caches.delete(SHARED);
  const form = await boundedForm(request);
  if (!form) return Response.redirect("/", 303);
  const cache = await caches.open(SHARED);
  const text = ["title", "text", "url"]
    .map((name) => form.get(name))
    .filter((part) => typeof part === "string" && part)
    .join("\n");
  const from = URL.canParse(request.referrer) ? new URL(request.referrer).host : "";
  await cache.put(
    "/shared/text",
    new Response(text.slice(0, MAX_SHARED_TEXT), { headers: { "X-From": from } }),
  );
  for (const [number, file] of form
    .getAll("files")
    .filter((file) => file instanceof File)
    .slice(0, MAX_SHARED_FILES)
    .entries()) {
    const headers = {
      "Content-Type": file.type || "application/octet-stream",
      "X-Name": encodeURIComponent(file.name),
    };
    await cache.put(`/shared/${number}`, new Response(file, { headers }));
  }
  return Response.redirect("/#shared", 303);
}

/**
 * Read a form of limited size. Return null if it is larger, or if the request contains no form.
 * @param {Request} request
 */
async function boundedForm(request) {
  let room = MAX_SHARED_BYTES;
  const bound = new TransformStream({
    transform(chunk, controller) {
      if ((room -= chunk.length) < 0) controller.error(new RangeError("too many bytes are shared"));
      else controller.enqueue(chunk);
    },
  });
  const headers = { "Content-Type": request.headers.get("Content-Type") ?? "" };
  // A browser whose requests have no body stream does not support share targets either, so the form can only
  // come from a website.
  return request.body
    ? new Response(request.body.pipeThrough(bound), { headers }).formData().catch(() => null)
    : null;
}

/** @param {NotificationContent} what */
async function ring({
  kind,
  channel_id: channelId,
  channel,
  message_id: messageId,
  talk_id: conversationId,
  author,
  text = "",
  files = 0,
}) {
  if (conversationId && !author) return ringPrivately(conversationId, kind === "call");
  const words = plain(text).slice(0, MAX_TEXT);
  const title = !author ? worker.location.hostname : conversationId ? author : `${author} · #${channel}`;
  const notice = {
    body: words || (files ? `📎 ${files}` : ""),
    icon: "/web/icon.svg",
    badge: "/web/icon.svg",
    tag: `${kind} ${conversationId ?? channelId}`,
    renotify: kind === "mention",
    data: { channelId, messageId, conversationId },
  };
  // Hold the lock: if a page lists the notifications while this one is being shown, Chromium omits it from
  // all later lists, and the page can never close it.
  await navigator.locks.request("svc.notices", () => worker.registration.showNotification(title, notice));
  if (kind === "mention") await worker.navigator.setAppBadge?.();
}

/**
 * Notify the member of a call or an encrypted message, unless an open page has already done so.
 * @param {string} conversationId
 * @param {boolean} called
 */
async function ringPrivately(conversationId, called) {
  const words = await caches.match(`/words/${called ? "call" : "private"}`, { cacheName: WORDS });
  const body = words ? await words.text() : called ? "📞" : "🔒";
  const tag = `${called ? "call" : "mention"} ${conversationId}`;
  await navigator.locks.request("svc.notices", async () => {
    const [shown] = await worker.registration.getNotifications({ tag });
    const notice = {
      body: shown?.body ?? body,
      icon: "/web/icon.svg",
      badge: "/web/icon.svg",
      tag,
      renotify: called || !shown,
      requireInteraction: called,
      data: { conversationId },
    };
    await worker.registration.showNotification(shown?.title ?? worker.location.hostname, notice);
  });
  await worker.navigator.setAppBadge?.();
}

/** Convert Markdown to one line of plain text. @param {string} text */
function plain(text) {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_~`>#|]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** @param {NotificationTarget} [noticed] */
async function open({ channelId, messageId, conversationId } = {}) {
  const [first] = await worker.clients.matchAll({ type: "window" });
  if (first) {
    first.postMessage({ open: { channelId, messageId, conversationId } });
    return first.focus();
  }
  /** @type {Record<string, string> | "" | undefined} */
  const parameters = conversationId
    ? { private: conversationId }
    : channelId && { channel: channelId, ...(messageId && { message: messageId }) };
  return worker.clients.openWindow(parameters ? `/#${new URLSearchParams(parameters)}` : "/");
}
