// Requests unread counts and confirmations of linked accounts from the member's other servers. Runs in a
// frame without an origin, so these servers see `Origin: null` and no referrer. Stores nothing. See
// docs/servers.md.

/** @import { Confirmed, Counted, WantedConfirmation, WantedCounts } from "./transport/other_servers.js" */

{
  const DEADLINE_MS = 15_000;
  const MAX_BYTES = 256 * 1024; // Enough for an icon of 128 KB in base64 and the other fields.
  const MAX_SIDE = 1024; // An image of a few bytes could expand to gigabytes. Our icons are 512 pixels wide.
  const SIDE = 96; // Sharp on screens with up to three device pixels per CSS pixel.

  addEventListener("message", ({ source, ports: [port] }) => {
    if (source !== parent || !port) return;
    port.onmessage = async ({ data }) => {
      const result = await (data.digest ? confirmation(data) : counts(data)).catch(() => null);
      port.postMessage({ id: data.id, result });
    };
  });

  /** @param {WantedCounts} wanted @returns {Promise<Counted>} */
  async function counts({ origin, token, picture }) {
    const answer = await post(`${origin}/api/counts`, { token, picture });
    return {
      name: `${answer.name}`,
      unread: number(answer.unread),
      mentions: number(answer.mentions),
      picture: typeof answer.picture === "string" ? await small(answer.picture).catch(() => "") : "",
    };
  }

  /** @param {WantedConfirmation} wanted @returns {Promise<Confirmed>} */
  async function confirmation({ origin, token, digest }) {
    const { account } = await post(`${origin}/api/account-confirmations`, { token, digest });
    if (!account) return { account: null };
    const { member_id, nickname, key } = account;
    return { account: { memberId: `${member_id}`, nickname: `${nickname}`, key: `${key}` } };
  }

  /** @param {string} address @param {object} body */
  async function post(address, body) {
    const response = await fetch(address, {
      method: "POST",
      body: JSON.stringify(body), // Sent as text/plain, which requires no preflight.
      credentials: "omit",
      referrerPolicy: "no-referrer",
      redirect: "error",
      cache: "no-store",
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (!response.ok || !response.body) throw new Error("refused");
    return JSON.parse(await text(response.body));
  }

  /** @param {ReadableStream<Uint8Array>} body */
  async function text(body) {
    const decoder = new TextDecoder();
    const reader = body.getReader();
    let whole = "";
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return whole;
      bytes += value.length;
      if (bytes > MAX_BYTES) {
        reader.cancel().catch(() => {});
        throw new Error("too long");
      }
      whole += decoder.decode(value, { stream: true });
    }
  }

  /** @param {unknown} value */
  const number = (value) => (Number.isSafeInteger(value) ? Math.max(0, Math.min(Number(value), 99_999)) : 0);

  /** Redraw a WebP image as a small PNG. Return its data: URL. @param {string} base64 */
  async function small(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    if (side(bytes) > MAX_SIDE) throw new Error("too large");
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/webp" }));
    const canvas = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE });
    const { width, height } = bitmap;
    const cut = Math.min(width, height);
    canvas
      .getContext("2d")
      ?.drawImage(bitmap, (width - cut) / 2, (height - cut) / 2, cut, cut, 0, 0, SIDE, SIDE);
    return canvas.toDataURL("image/png");
  }

  /**
   * Return the longer side in pixels, as specified in a WebP file's header (RFC 9649).
   * @param {Uint8Array} bytes
   */
  function side(bytes) {
    const view = new DataView(bytes.buffer);
    const name = (/** @type {number} */ at) => String.fromCharCode(...bytes.subarray(at, at + 4));
    if (name(0) !== "RIFF" || name(8) !== "WEBP") return Infinity;
    const number = (/** @type {number} */ at) => view.getUint32(at, true);
    switch (name(12)) {
      case "VP8 ":
        return Math.max(number(26) & 0x3fff, (number(26) >> 16) & 0x3fff);
      case "VP8L":
        return Math.max(number(21) & 0x3fff, (number(21) >> 14) & 0x3fff) + 1;
      case "VP8X":
        return Math.max(number(24) & 0xffffff, number(26) >>> 8) + 1;
      default:
        return Infinity;
    }
  }
}
