// Messages that begin with a command: text that replaces the message, or an action.

import { commanded } from "../../state/commands.js";
import { notify, tried } from "../../state/notices.js";
import { api, member } from "../../state/server.js";
import { t } from "../../words/words.js";

const ACTS = {
  /** @param {string} id @param {string} words */
  nick: (id, words) => api("PATCH", `/api/members/${id}`, { nickname: words }),
  /** @param {string} id @param {string} words */
  status: (id, words) => api("PUT", `/api/members/${id}/status`, { text: words }),
};

/**
 * Return the text to send, or null if there is none. `done` is called once an action has been performed.
 * @param {string} text
 * @param {() => void} done
 */
export async function runCommand(text, done) {
  const what = commanded(text);
  if (!what) return text;
  if ("text" in what) return what.text;
  if (await tried(ACTS[what.act](encodeURIComponent(member.value?.id ?? ""), what.words))) {
    notify(t("saved"), "done");
    done();
  }
  return null;
}
