// Requests unread counts and confirmations of linked accounts from the member's other servers. A frame
// without an origin sends the requests, so these servers do not learn which server the page comes from.
// Stores nothing. See docs/servers.md.

/**
 * `picture` is a data: URL of a small PNG, or "".
 * @typedef {{name: string, unread: number, mentions: number, picture: string}} Counted
 * @typedef {{memberId: string, nickname: string, key: string}} ConfirmedAccount
 * `account` is null if no member of that server has confirmed the statement.
 * @typedef {{account: ConfirmedAccount | null}} Confirmed
 * A request for the counts, or for the confirmation of the statement with this digest.
 * @typedef {{origin: string, token: string, picture: boolean, digest?: undefined}} WantedCounts
 * @typedef {{origin: string, token: string, digest: string}} WantedConfirmation
 */

const PATH = "/counts-frame";
const MAX_PICTURE_BYTES = 64 * 1024; // Enough for 96 × 96 incompressible pixels in base64.
const MAX_NAME_LENGTH = 64;
// This applies if the frame never loads. Otherwise, the frame's own shorter timeout applies.
const DEADLINE_MS = 20_000;
// Unprintable characters, including those that change the direction of the text after them.
const UNPRINTABLE = /[\p{C}\u2028\u2029]+/gu;

/** @type {Promise<MessagePort> | null} */
let opened = null;
let lastId = 0;

/** Open the frame, which only this server's pages may embed. @returns {Promise<MessagePort>} */
function frame() {
  opened ??= new Promise((resolve) => {
    const element = document.createElement("iframe");
    element.setAttribute("sandbox", "allow-scripts");
    element.referrerPolicy = "no-referrer";
    element.hidden = true;
    element.ariaHidden = "true";
    element.src = PATH;
    element.addEventListener("load", () => {
      const { port1, port2 } = new MessageChannel();
      // The target origin must be "*", because the frame has no origin. No other site can navigate the frame.
      element.contentWindow?.postMessage(null, "*", [port2]);
      port1.start();
      resolve(port1);
    });
    document.body.append(element);
  });
  return opened;
}

/**
 * Send a request through the frame. Return its result, or null if the other server does not respond or no
 * longer accepts the token.
 * @template {Counted | Confirmed} Result
 * @param {WantedCounts | WantedConfirmation} wanted
 * @returns {Promise<Result | null>}
 */
function ask(wanted) {
  const id = ++lastId;
  const signal = AbortSignal.timeout(DEADLINE_MS);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(null));
    frame().then((port) => {
      const heard = (/** @type {MessageEvent} */ { data }) => {
        if (data.id !== id) return;
        port.removeEventListener("message", heard);
        resolve(data.result);
      };
      port.addEventListener("message", heard);
      signal.addEventListener("abort", () => port.removeEventListener("message", heard));
      port.postMessage({ id, ...wanted });
    });
  });
}

/** Convert a name from another server to one printable line. @param {string} name */
const printable = (name) => name.replaceAll(UNPRINTABLE, " ").trim().slice(0, MAX_NAME_LENGTH);

/**
 * Fetch the counts from another server. Return null if there is no response.
 * @param {string} origin @param {string} token @param {boolean} picture Whether to fetch its icon as well.
 * @returns {Promise<Counted | null>}
 */
export async function fetchCounts(origin, token, picture) {
  /** @type {Counted | null} */
  const counted = await ask({ origin, token, picture });
  if (!counted) return null;
  const isPicture = counted.picture.startsWith("data:image/png;base64,");
  return {
    ...counted,
    name: printable(counted.name),
    picture: isPicture && counted.picture.length <= MAX_PICTURE_BYTES ? counted.picture : "",
  };
}

/**
 * Fetch the account on another server that has confirmed the statement with this digest. Return null if there
 * is no response.
 * @param {string} origin @param {string} token @param {string} digest
 * @returns {Promise<Confirmed | null>}
 */
export async function fetchConfirmation(origin, token, digest) {
  /** @type {Confirmed | null} */
  const confirmed = await ask({ origin, token, digest });
  const account = confirmed?.account;
  return account
    ? { account: { ...account, nickname: printable(account.nickname) || account.memberId } }
    : confirmed;
}
