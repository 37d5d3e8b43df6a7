// Shows the dialog for renaming, timing out, kicking or banning a member, with a reason for the log.

import { ban, kick, rename, timeOut } from "../../state/admin/moderation.js";
import { notify } from "../../state/notices.js";
import { memberOf, members } from "../../state/people.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { formatDuration } from "../parts/time.js";
import { Among } from "./channel_overview.js";
import { useFormRequest } from "./parts/form_request.js";

export const TIMEOUTS_S = [60, 300, 600, 3600, 86400, 604800, 2419200];
export const DELETED_S = [0, 3600, 86400, 604800, 2592000];

/** @typedef {"rename" | "timeout" | "kick" | "ban"} Act */

/**
 * `name` is given for a member who has already left.
 * @param {{memberId: string, act: Act, name?: string, onClose: () => void}} props
 */
export function Moderate({ memberId, act, name: given, onClose }) {
  const member = members.value.get(memberId) ?? (given ? null : memberOf(memberId));
  const name = member?.nickname ?? given ?? t("somebody");
  const [form, setForm] = useState({ nickname: name, seconds: 3600, deleted: 0, reason: "" });
  const { busy, problem, run } = useFormRequest();
  /** @template {keyof typeof form} K @param {K} key */
  const set = (key) => (/** @type {typeof form[K]} */ value) => setForm({ ...form, [key]: value });
  const typed =
    (/** @type {"nickname" | "reason"} */ key) => (/** @type {EventOn<HTMLInputElement>} */ event) =>
      set(key)(event.currentTarget.value);
  const { nickname, seconds, deleted, reason } = form;
  /** @type {{[act in Act]: () => Promise<unknown>}} */
  const acts = {
    rename: () => rename(memberId, nickname.trim()),
    timeout: () => timeOut(memberId, seconds, reason.trim()),
    kick: () => kick(memberId, reason.trim()),
    ban: () => ban(memberId, reason.trim(), deleted),
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!(await run(acts[act]))) return;
    notify(t(`moderate-${act}-done`, { name }), "done");
    onClose();
  };
  return html`<${Dialog} title=${t(`moderate-${act}-title`, { name })} onClose=${onClose}>
    <form class="stack" onSubmit=${submit} novalidate>
      <p class="quiet">${t(`moderate-${act}-text`)}</p>
      ${
        act === "rename" &&
        html`<${Field}
          label=${t("name")}
          value=${nickname}
          maxlength="32"
          onInput=${typed("nickname")}
          autofocus
          autocomplete="off"
        />`
      }
      ${
        act === "timeout" &&
        html`<${Among}
          label=${t("timeout-for")}
          value=${seconds}
          all=${TIMEOUTS_S}
          words=${formatDuration}
          onChange=${set("seconds")}
        />`
      }
      ${
        act === "ban" &&
        html`<${Among}
          label=${t("ban-deletes")}
          value=${deleted}
          all=${DELETED_S}
          words=${deleting}
          onChange=${set("deleted")}
        />`
      }
      ${
        act !== "rename" &&
        html`<${Field}
          label=${t("reason")}
          hint=${act === "ban" ? t("reason-hint-ban") : t("reason-hint")}
          value=${reason}
          maxlength="500"
          onInput=${typed("reason")}
          autofocus=${act !== "timeout" && matchMedia("(pointer: fine)").matches}
          autocomplete="off"
        />`
      }
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <footer class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button}
          look=${act === "kick" || act === "ban" ? "danger" : "primary"}
          type="submit"
          disabled=${busy}
        >
          ${t(`moderate-${act}`)}
        <//>
      </footer>
    </form>
  <//>`;
}

/** Describe how far back messages are deleted. @param {number} last the period in seconds */
export const deleting = (last) =>
  last ? t("ban-deletes-last", { time: formatDuration(last) }) : t("ban-deletes-none");
