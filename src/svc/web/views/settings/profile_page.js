// Our own name, status and picture.

/** @import { RefObject } from "../../vendor/preact.js" */

import { notify, tried } from "../../state/notices.js";
import { accessToken, api, member } from "../../state/server.js";
import { sendFile } from "../../transport/upload.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Field } from "../parts/field.js";

export function ProfilePage() {
  if (!member.value) return null;
  const { id, nickname, avatar, status_text: status } = member.value;
  return html`
    <${Picture} id=${id} name=${nickname} url=${avatar} />
    <${OneField}
      label=${t("your-name")}
      value=${nickname}
      maxlength="32"
      save=${(/** @type {string} */ text) => api("PATCH", `/api/members/${id}`, { nickname: text })}
    />
    <${OneField}
      label=${t("your-status")}
      value=${status ?? ""}
      maxlength="80"
      save=${(/** @type {string} */ text) => api("PUT", `/api/members/${id}/status`, { text })}
    />
  `;
}

/**
 * One field that is saved by itself.
 * @param {{label: string, value: string, save: (text: string) => Promise<unknown>, [attribute: string]:
 *   unknown}} props
 */
function OneField({ label, value, save, ...rest }) {
  const [text, setText] = useState(value);
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setProblem("");
    try {
      await save(text.trim());
      notify(t("saved"), "done");
    } catch (error) {
      setProblem(explain(error));
    }
  };
  return html`<form class="row-form" onSubmit=${submit} novalidate>
    <${Field}
      label=${label}
      value=${text}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setText(event.currentTarget.value)}
      problem=${problem}
      ...${rest}
    />
    <${Button} type="submit" disabled=${text.trim() === value}>${t("save")}<//>
  </form>`;
}

/** @param {{id: string, name: string, url: string | null}} props */
function Picture({ id, name, url }) {
  /** @type {RefObject<HTMLInputElement>} */
  const input = useRef(null);
  const picked = async (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const [file] = event.currentTarget.files ?? [];
    event.currentTarget.value = "";
    if (!file) return;
    const sent = await tried(sendFile("/api/me/avatar", file, { token: accessToken }));
    if (sent) notify(t("picture-checked"), "done");
  };
  return html`<div class="own-picture">
    <${Avatar} id=${id} name=${name} url=${url} size="huge" />
    <${Button} onClick=${() => input.current.click()}>${t("choose-picture")}<//>
    ${
      url &&
      html`<${Button} onClick=${() => tried(api("DELETE", "/api/me/avatar"))}>${t("remove-picture")}<//>`
    }
    <input type="file" accept="image/*,.heic,.heif" hidden ref=${input} onChange=${picked} />
  </div>`;
}
