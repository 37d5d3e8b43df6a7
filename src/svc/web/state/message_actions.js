// Performs actions on a message in a channel or a private conversation.

/** @import { Message } from "../types/api.js" */

import { act } from "./private_client.js";
import { ask } from "./server.js";

/**
 * @typedef {Pick<Message, "channel_id" | "id"> & {conversation_id?: undefined}} Posted
 * @typedef {Posted | {id: string, channel_id: null, conversation_id: string}} MessageReference A private
 *   message has a `conversation_id`.
 * @param {Posted} message
 */
const reference = ({ channel_id, id }) => ({ channel_id, message_id: id });

/** The actions. Each returns a promise for its request. */
export const acts = {
  /** @param {MessageReference} message @param {string} text */
  edit: (message, text) =>
    message.conversation_id !== undefined
      ? act("edit", message, text)
      : ask("message_edit", { ...reference(message), text }),
  /** @param {MessageReference} message */
  remove: (message) =>
    message.conversation_id !== undefined
      ? act("remove", message)
      : ask("message_delete", reference(message)),
  /** @param {MessageReference} message @param {string} emoji @param {boolean} added */
  react: (message, emoji, added) =>
    message.conversation_id !== undefined
      ? act("react", message, emoji, added)
      : ask(added ? "reaction_add" : "reaction_remove", { ...reference(message), emoji }),
  /** @param {Posted} message */
  removePreviews: (message) => ask("previews_remove", reference(message)),
  /** @param {Posted} message @param {boolean} pinned */
  pin: (message, pinned) => ask(pinned ? "pin_add" : "pin_remove", reference(message)),
};
