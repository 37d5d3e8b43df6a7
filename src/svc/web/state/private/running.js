// Private conversations at work, as the page uses them: fetched some seconds after the page is there. docs/private.md

import { keysOf } from "./call_keys.js";
import { addPeople, greet, leave, makeGroup, rename } from "./groups.js";
import { numberOf, verify } from "./number.js";
import { forgetOwn, start } from "./own.js";
import { begin, forgetRead, heard, look, markRead, onRead, refresh } from "./reading.js";
import { acts, discard, send, sendAgain } from "./saying.js";

onRead(greet);

/** What the call of this conversation is sealed with; null outside the group. @param {string} id */
const callKeysOf = async (id) => keysOf(await start(), id);

/** Nothing of who we were is left in this browser. */
async function forget() {
  forgetRead();
  await forgetOwn();
}

export const running = { acts, addPeople, begin, callKeysOf, discard, forget, heard, leave, look, makeGroup, markRead, numberOf, refresh, rename, send, sendAgain, verify };
