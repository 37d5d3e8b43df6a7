// Edits the user's name, status and avatar.

/** @import { RefObject } from "../../vendor/preact.js" */

import { notify, tryOrNotify } from "../../state/notices.js";
import { accessToken, api, member } from "../../state/server.js";
import { sendFile } from "../../transport/upload.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Field } from "../parts/field.js";
import { SaveBar } from "../parts/save_bar.js";

export function ProfilePage() {
  if (!member.value) return null;
  const { id, nickname, avatar, status_text: status } = member.value;
  return html`
    <${Picture} id=${id} name=${nickname} url=${avatar} />
    <${Texts} id=${id} name=${nickname} status=${status ?? ""} />
  `;
}

const TEXTS = /** @type {const} */ ([
  { key: "name", label: () => t("your-name"), maxLength: 32 },
  { key: "status", label: () => t("your-status"), maxLength: 80 },
]);

/**
 * The form for the name and the status, which are saved together.
 * @param {{id: string, name: string, status: string}} props
 */
function Texts({ id, ...known }) {
  const [changes, setChanges] = useState(/** @type {Partial<typeof known>} */ ({}));
  const [problems, setProblems] = useState(/** @type {Partial<typeof known>} */ ({}));
  const now = { ...known, ...changes };
  const changed = TEXTS.filter(({ key }) => now[key].trim() !== known[key]);
  const save = {
    name: (/** @type {string} */ text) => api("PATCH", `/api/members/${id}`, { nickname: text }),
    status: (/** @type {string} */ text) => api("PUT", `/api/members/${id}/status`, { text }),
  };
  const discard = () => {
    setChanges({});
    setProblems({});
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    /** @type {typeof problems} */
    const faults = {};
    const saving = changed.map(({ key }) =>
      save[key](now[key].trim()).catch((error) => {
        faults[key] = explain(error);
      }),
    );
    await Promise.all(saving);
    setProblems(faults);
    if (Object.keys(faults).length < changed.length) notify(t("saved"), "done");
  };
  return html`<form class="stack" onSubmit=${submit} novalidate>
    ${TEXTS.map(
      ({ key, label, maxLength }) =>
        html`<${Field}
          key=${key}
          label=${label()}
          value=${now[key]}
          maxlength=${maxLength}
          problem=${problems[key]}
          onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
            setChanges({ ...changes, [key]: event.currentTarget.value })}
        />`,
    )}
    ${changed.length > 0 && html`<${SaveBar} onDiscard=${discard} />`}
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
    const sent = await tryOrNotify(sendFile("/api/me/avatar", file, { token: accessToken }));
    if (sent) notify(t("picture-checked"), "done");
  };
  return html`<div class="own-picture">
    <${Avatar} id=${id} name=${name} url=${url} size="huge" />
    <${Button} onClick=${() => input.current.click()}>${t("choose-picture")}<//>
    ${
      url &&
      html`<${Button} onClick=${() => tryOrNotify(api("DELETE", "/api/me/avatar"))}>
        ${t("remove-picture")}
      <//>`
    }
    <input type="file" accept="image/*,.heic,.heif" hidden ref=${input} onChange=${picked} />
  </div>`;
}
