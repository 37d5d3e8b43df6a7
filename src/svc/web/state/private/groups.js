// Private conversations of several people: who is in them, and what they are called. The name is said like everything
// else, so the server does not know it. docs/private.md

/** @import { PathOf } from "../../types/wire.js" */

import { talksById } from "../private_talks.js";
import { api } from "../server.js";
import { nameSaid, removedSaid } from "./content.js";
import { start } from "./own.js";
import { begin, forgetTalk, left, look } from "./reading.js";
import { say } from "./saying.js";

const ONE = /** @type {PathOf<"/api/private/conversations">} */ ((id, /** @type {any} */ rest) => `/api/private/conversations/${encodeURIComponent(id)}${rest}`);

/** Resolves with the id of a conversation with these people. @param {string[]} memberIds @param {string} name may be empty */
export async function makeGroup(memberIds, name) {
  const id = await begin(memberIds);
  if (name) rename(id, name);
  return id;
}

/** Let these people in. What was said before stays unreadable to them. @param {string} id @param {string[]} memberIds */
export async function addPeople(id, memberIds) {
  for (const memberId of memberIds) await api("PUT", ONE(id, `/members/${encodeURIComponent(memberId)}`), {});
  await look(id);
}

/** Take this person out, with all their devices, and say so. @param {string} id @param {string} memberId */
export async function removePerson(id, memberId) {
  await api("DELETE", ONE(id, `/members/${encodeURIComponent(memberId)}`), {});
  await say(id, removedSaid(memberId));
}

/** @param {string} id @param {string} name */
export const rename = (id, name) => say(id, nameSaid(name));

/** Be in it no more, and keep nothing of it. @param {string} id */
export async function leave(id) {
  left.add(id);
  await api("POST", ONE(id, "/leave"), {});
  await forgetTalk(id);
}

/** Somebody whom this device has let in has not heard what the conversation is called. @param {string} id */
export async function greet(id) {
  const { kept } = await start();
  if (!(await kept.get(`greet/${id}`))) return;
  await kept.put([[`greet/${id}`, undefined]]);
  const { name = "" } = talksById.value.get(id) ?? {};
  if (name) await rename(id, name);
}
