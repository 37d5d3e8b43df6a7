// Edits a channel's name, topic, slow mode and other settings, and deletes the channel.

/** @import { Channel } from "../../types/api.js" */

import { deleteChannel, editChannel } from "../../state/admin/channels.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Field, Switch } from "../parts/field.js";
import { SaveBar } from "../parts/save_bar.js";
import { formatDuration } from "../parts/time.js";
import { InCategory, NAME_CHARACTERS } from "./create_channel.js";
import { useFormRequest, TypedConfirm } from "./parts/form_request.js";

const SLOW_S = [0, 5, 10, 30, 60, 300, 900, 3600, 21600];
const BITRATES_KBPS = [0, 32, 64, 96, 128, 256];

/** @param {{channel: Channel, onClose: () => void}} props */
export function ChannelOverview({ channel, onClose }) {
  const [changes, setChanges] = useState(/** @type {Partial<Channel>} */ ({}));
  const [ending, setEnding] = useState(false);
  const { problem, setProblem, run } = useFormRequest();
  const now = { ...channel, ...changes };
  const { type } = channel;
  /** @template {keyof Channel} K @param {K} key */
  const change = (key) => (/** @type {Channel[K]} */ value) => setChanges({ ...changes, [key]: value });
  const typed = (/** @type {"name" | "topic"} */ key) => (/** @type {EventOn<HTMLInputElement>} */ event) =>
    change(key)(event.currentTarget.value);
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!now.name.trim()) {
      setProblem(t("channel-name-missing"));
      return;
    }
    if (await run(() => editChannel(channel.id, changes))) {
      setChanges({});
      notify(t("saved"), "done");
    }
  };
  const archive = async () => {
    if (!(await tryOrNotify(editChannel(channel.id, { archived: true })))) return;
    notify(t("channel-archived", { name: channel.name }), "done");
    onClose();
  };
  return html`
    <form class="stack" onSubmit=${save} novalidate>
      <${Field}
        label=${t("field-name")}
        value=${now.name}
        maxlength=${NAME_CHARACTERS}
        onInput=${typed("name")}
        problem=${problem}
        autocomplete="off"
      />
      ${
        type !== "category" &&
        html`<${Field}
          label=${t("field-topic")}
          hint=${t("channel-topic-hint")}
          value=${now.topic}
          maxlength="1024"
          multiline
          rows="3"
          onInput=${typed("topic")}
        />`
      }
      ${
        type === "text" &&
        html`<${Among}
          label=${t("field-slow-mode-s")}
          hint=${t("slow-mode-hint")}
          value=${now.slow_mode_s}
          all=${SLOW_S}
          words=${formatDuration}
          onChange=${change("slow_mode_s")}
        />`
      }
      ${
        type === "voice" &&
        html`
          <${Field}
            label=${t("field-user-limit")}
            hint=${t("user-limit-hint")}
            type="number"
            min="0"
            max="1000"
            value=${now.user_limit ?? 0}
            onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
              change("user_limit")(Number(event.currentTarget.value))}
          />
          <${Among}
            label=${t("field-bitrate-kbps")}
            value=${now.bitrate_kbps ?? 0}
            all=${BITRATES_KBPS}
            words=${(/** @type {number} */ kbps) => (kbps ? t("kbps", { kbps }) : t("bitrate-usual"))}
            onChange=${change("bitrate_kbps")}
          />
          <${Switch}
            label=${t("field-encrypted")}
            hint=${t("encrypt-calls-hint")}
            checked=${now.encrypted}
            onChange=${change("encrypted")}
          />
        `
      }
      ${type !== "category" && html`<${InCategory} value=${now.parent_id} onChange=${change("parent_id")} />`}
      ${Object.keys(changes).length > 0 && html`<${SaveBar} onDiscard=${() => setChanges({})} />`}
    </form>
    <section class="ending stack">
      ${
        type !== "category" &&
        html`
          <p class="quiet">${t("channel-archive-text")}</p>
          <p><${Button} onClick=${archive}>${t("channel-archive")}<//></p>
        `
      }
      <p class="quiet">${type === "category" ? t("category-delete-text") : t("channel-delete-text")}</p>
      <p><${Button} look="danger" onClick=${() => setEnding(true)}>${t("channel-delete")}<//></p>
    </section>
    ${
      ending &&
      html`<${TypedConfirm}
        title=${t("channel-delete-title", { name: channel.name })}
        text=${type === "category" ? t("category-delete-text") : t("channel-delete-text")}
        name=${channel.name}
        action=${t("channel-delete")}
        onConfirm=${() => deleteChannel(channel.id)}
        onClose=${() => setEnding(false)}
      />`
    }
  `;
}

/**
 * A choice of numbers, which always includes the current value.
 * @param {{label: string, hint?: string, value: number, all: number[], words: (value: number) => string,
 *   onChange: (value: number) => void}} props
 */
export function Among({ label, hint, value, all, words, onChange }) {
  const offered = all.includes(value) ? all : [...all, value].sort((a, b) => a - b);
  return html`<label class="field">
    ${label}
    <select onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
      onChange(Number(event.currentTarget.value))}>
      ${offered.map(
        (option) =>
          html`<option key=${option} value=${option} selected=${option === value}>${words(option)}</option>`,
      )}
    </select>
    ${hint && html`<p class="quiet">${hint}</p>`}
  </label>`;
}
