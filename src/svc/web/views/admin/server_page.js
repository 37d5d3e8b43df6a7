// Edits the server settings that the owner can change, such as its name, admission and word filter.

/** @import { ResponseBody, Body } from "../../types/wire.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { textChannels } from "../../state/channels.js";
import { changeSettings, removeIcon, sendIcon, settings } from "../../state/admin/management_requests.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { info } from "../../state/server.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { Skeletons } from "../parts/skeletons.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Choice, Field, Switch } from "../parts/field.js";
import { SaveBar } from "../parts/save_bar.js";
import { useResponse, useFormRequest } from "./parts/form_request.js";

/** @typedef {Body<"PATCH", "/api/settings">} Changes */

/** @type {{key: "name" | "description" | "rules", maxLength: number, rows?: number}[]} */
const TEXTS = [
  { key: "name", maxLength: 64 },
  { key: "description", maxLength: 500, rows: 3 },
  { key: "rules", maxLength: 4000, rows: 6 },
];

export function ServerPage() {
  const { value, problem, set, again } = useResponse(settings);
  if (problem)
    return html`<p class="error" role="alert">
      ${problem} <${Button} look="link" onClick=${again}>${t("try-again")}<//>
    </p>`;
  if (!value) return html`<${Skeletons} rows=${3} />`;
  /** @template {keyof Changes} K @param {K} key */
  const change = (key) => (/** @type {Changes[K]} */ wanted) =>
    tryOrNotify(changeSettings({ [key]: wanted }).then(set));
  return html`
    <${Icon} />
    <${Texts} value=${value} onSaved=${set} />
    <${Choice}
      label=${t("join-policy")}
      value=${value.joinPolicy}
      onChange=${change("joinPolicy")}
      options=${
        /** @type {const} */ (["invite", "open"]).map((policy) => ({
          value: policy,
          label: t(`join-policy-${policy}`),
          hint: t(`join-policy-${policy}-hint`),
        }))
      }
    />
    <${Choice}
      label=${t("bad-words")}
      value=${value.profanityMode}
      onChange=${change("profanityMode")}
      options=${
        /** @type {const} */ (["off", "flag", "censor", "block"]).map((mode) => ({
          value: mode,
          label: t(`bad-words-${mode}`),
          hint: t(`bad-words-${mode}-hint`),
        }))
      }
    />
    ${
      /** @type {const} */ (["lanOpen", "discoverable", "linkPreviews"]).map(
        (key) =>
          html`<${Switch}
            key=${key}
            label=${t(`setting-${key.toLowerCase()}`)}
            hint=${t(`setting-${key.toLowerCase()}-hint`)}
            checked=${value[key]}
            onChange=${change(key)}
          />`,
      )
    }
    <label class="field">
      ${t("welcome-channel")}
      <select onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
        change("welcomeChannelId")(event.currentTarget.value || null)}>
        <option value="" selected=${!value.welcomeChannelId}>${t("invite-any-channel")}</option>
        ${textChannels.value.map(
          ({ id, name }) =>
            html`<option key=${id} value=${id} selected=${id === value.welcomeChannelId}>${name}</option>`,
        )}
      </select>
    </label>
  `;
}

/**
 * @typedef {ResponseBody<"GET", "/api/settings">} SavedSettings
 * @param {{value: SavedSettings, onSaved: (value: SavedSettings) => void}} props
 */
function Texts({ value, onSaved }) {
  const [changes, setChanges] = useState(
    /** @type {{[key in "name" | "description" | "rules"]?: string}} */ ({}),
  );
  const { problem, run } = useFormRequest();
  const now = { ...value, ...changes };
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const wanted = {
      ...Object.fromEntries(Object.entries(changes).map(([key, text]) => [key, text.trim() || null])),
    };
    if (!(await run(async () => onSaved(await changeSettings(wanted))))) return;
    setChanges({});
    notify(t("saved"), "done");
  };
  return html`<form class="stack" onSubmit=${save} novalidate>
    ${TEXTS.map(
      ({ key, maxLength, rows }) =>
        html`<${Field}
          key=${key}
          label=${t(`community-${key}`)}
          hint=${key === "name" ? undefined : t(`community-${key}-hint`)}
          value=${now[key] ?? ""}
          maxlength=${maxLength}
          multiline=${Boolean(rows)}
          rows=${rows}
          onInput=${(/** @type {EventOn<HTMLInputElement | HTMLTextAreaElement>} */ event) =>
            setChanges({ ...changes, [key]: event.currentTarget.value })}
        />`,
    )}
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${Object.keys(changes).length > 0 && html`<${SaveBar} onDiscard=${() => setChanges({})} />`}
  </form>`;
}

function Icon() {
  /** @type {RefObject<HTMLInputElement>} */
  const input = useRef(null);
  const picked = async (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const [file] = event.currentTarget.files ?? [];
    event.currentTarget.value = "";
    if (file && (await tryOrNotify(sendIcon(file)))) notify(t("picture-checked"), "done");
  };
  return html`<div class="own-picture">
    <img
      class="server-icon"
      src=${info.value?.iconUrl ?? "/web/icon.svg"}
      alt=${t("server-icon")}
      width="72"
      height="72"
    />
    <${Button} onClick=${() => input.current.click()}>${t("choose-picture")}<//>
    ${
      info.value?.iconUrl &&
      html`<${Button} onClick=${() => tryOrNotify(removeIcon())}>${t("remove-picture")}<//>`
    }
    <input
      type="file"
      accept="image/*,.heic,.heif"
      hidden
      ref=${input}
      onChange=${picked}
      aria-label=${t("server-icon")}
    />
  </div>`;
}
