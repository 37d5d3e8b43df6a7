// Shows the dialog that creates a channel, with its type, name and visibility.

/** @import { Channel } from "../../types/api.js" */

import { channels } from "../../state/channels.js";
import { openMade } from "../../state/navigation.js";
import { createChannel } from "../../state/admin/channels.js";
import { madePrivate } from "../../state/admin/channel_privacy.js";
import { isOwner, ownRank } from "../../state/admin/role_rank.js";
import { roles } from "../../state/people.js";
import { member } from "../../state/server.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Choice, Field, Switch } from "../parts/field.js";
import { useFormRequest } from "./parts/form_request.js";
import { Chips, Pick } from "./parts/picker.js";

/** @type {Channel["type"][]} */
const KINDS = ["text", "voice", "category"];
export const NAME_CHARACTERS = 64;

export const self = () => ({
  id: member.value?.id ?? "",
  roles: member.value?.roles ?? [],
  rank: ownRank(),
  owner: isOwner(),
});

/**
 * `under` is the settings dialog that opened this dialog and stays open behind it.
 * @param {{type?: Channel["type"], parentId?: string | null, under?: object | null, onClose: () => void}}
 *   props
 */
export function CreateChannel({ type = "text", parentId = null, under = null, onClose }) {
  const [kind, setKind] = useState(type);
  const [name, setName] = useState("");
  const [parent, setParent] = useState(parentId);
  const [hidden, setHidden] = useState(false);
  const [seen, setSeen] = useState(/** @type {Set<string>} */ (new Set()));
  const { busy, problem, setProblem, get } = useFormRequest();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!name.trim()) {
      setProblem(t("channel-name-missing"));
      return;
    }
    const overrides = hidden ? madePrivate([], seen, roles.value, self()) : [];
    const wanted = {
      name: name.trim(),
      type: kind,
      ...(kind !== "category" && parent && { parent_id: parent }),
      ...(overrides.length && { overrides }),
    };
    const made = await get(() => createChannel(wanted));
    if (!made) return;
    onClose();
    if (made.type === "text" && !under) openMade(made.id);
  };
  return html`<${Dialog} title=${t("create-channel")} onClose=${onClose}>
    <form class="stack" onSubmit=${submit} novalidate>
      <${Choice}
        label=${t("channel-kind")}
        value=${kind}
        onChange=${setKind}
        options=${KINDS.map((value) => ({
          value,
          label: t(`channel-${value}`),
          hint: t(`channel-${value}-hint`),
        }))}
      />
      <${Field}
        label=${t("field-name")}
        value=${name}
        maxlength=${NAME_CHARACTERS}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setName(event.currentTarget.value)}
        problem=${problem}
        autofocus
        autocomplete="off"
      />
      ${kind !== "category" && html`<${InCategory} value=${parent} onChange=${setParent} />`}
      <${Switch}
        label=${t("channel-private")}
        hint=${t("channel-private-hint")}
        checked=${hidden}
        onChange=${setHidden}
      />
      ${
        hidden &&
        html`<${PrivateTo}
          keys=${[...seen]}
          onAdd=${(/** @type {string} */ key) => setSeen(new Set(seen).add(key))}
          onRemove=${(/** @type {string} */ key) =>
            setSeen(new Set([...seen].filter((other) => other !== key)))}
        />`
      }
      <footer class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button} look="primary" type="submit" disabled=${busy}>${t("create-channel")}<//>
      </footer>
    </form>
  <//>`;
}

/**
 * The field for choosing a channel's category. Renders nothing if there are no categories.
 * @param {{value: string | null, onChange: (id: string | null) => void}} props
 */
export function InCategory({ value, onChange }) {
  const categories = channels.value.filter(({ type }) => type === "category");
  if (!categories.length) return null;
  return html`<label class="field">
    ${t("channel-category")}
    <select onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
      onChange(event.currentTarget.value || null)}>
      <option value="" selected=${!value}>${t("no-category")}</option>
      ${categories.map(
        ({ id, name }) => html`<option key=${id} value=${id} selected=${id === value}>${name}</option>`,
      )}
    </select>
  </label>`;
}

/** @param {{keys: string[], onAdd: (key: string) => void, onRemove: (key: string) => void}} props */
export function PrivateTo({ keys, onAdd, onRemove }) {
  return html`<div class="stack private-to">
    <${Pick} label=${t("channel-access-add")} chosen=${keys} onPick=${onAdd} />
    ${
      keys.length
        ? html`<${Chips} label=${t("channel-access")} keys=${keys} onRemove=${onRemove} />`
        : html`<p class="quiet">${t("channel-access-empty")}</p>`
    }
  </div>`;
}
