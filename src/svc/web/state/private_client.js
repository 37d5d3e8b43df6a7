// Loads the code for private conversations on demand, or else a few seconds after the first paint. See
// docs/private.md.

/** @typedef {typeof import("./private/index.js").clientFunctions} Client */

import { firstPaint } from "./first_paint.js";
import { openConversation, currentLocation } from "./navigation.js";
import { conversations } from "./private_conversations.js";
import { listen, unhurried } from "./server.js";

const CALM_MS = 4000; // The delay after the first paint, so that more urgent files load first.

/** @type {Promise<Client> | null} */
let client = null;
let timer = 0;

/** Load the code that reads and writes private conversations. */
export const privateClient = () =>
  (client ??= import("./private/index.js")
    .then((module) => module.clientFunctions)
    .catch((error) => {
      client = null;
      throw error;
    }));

/**
 * Open the conversation with this member, and create it if it does not exist. Rejects if the request fails.
 * @param {string} memberId
 */
export async function writeTo(memberId) {
  const known = conversations.value.find(
    (conversation) => conversation.two && conversation.members.includes(memberId),
  );
  openConversation(known?.id ?? (await (await privateClient()).createConversation([memberId])));
}

/**
 * Perform an action on a private message.
 * @param {keyof Client["messageActions"]} name
 * @param {object} message
 * @param {unknown[]} details
 * @returns {Promise<void>}
 */
export const act = async (name, message, ...details) =>
  /** @type {Record<string, (...given: any[]) => Promise<void>>} */ ((await privateClient()).messageActions)[
    name
  ](message, ...details);

/** @param {number} ms */
function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const idle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act));
    idle(
      () =>
        privateClient().then(
          (made) => made.refresh(),
          () => later(CALM_MS * 4),
        ),
      { timeout: CALM_MS * 2 },
    );
  }, ms);
}

listen({
  onGreeting() {
    if (currentLocation.value?.conversationId) later(0);
    else unhurried(() => firstPaint.then(() => later(CALM_MS)));
  },
  onResumption: () => later(0),
  onPush(event, data) {
    if (!event.startsWith("private_") && event !== "member_left") return;
    if (client || event !== "member_left")
      privateClient().then(
        (made) => made.handlePush(event, data),
        () => later(CALM_MS),
      );
  },
  onSignOut() {
    clearTimeout(timer);
    // There may be stored data even if the code was never loaded.
    if (client) client.then((made) => made.forget());
    else
      import("../transport/private_store.js").then(
        (store) => store.erasePrivateStore(),
        () => {},
      );
  },
});
