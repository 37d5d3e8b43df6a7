// Shows the dialog for creating a private group conversation, with fields for its members and name.

import { openConversation } from "../../state/navigation.js";
import { privateClient } from "../../state/private_client.js";
import { member } from "../../state/server.js";
import { html, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Chips, Pick } from "../admin/parts/picker.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";

const MAX_OTHERS = 24; // The maximum number of other members.
const MAX_NAME_LENGTH = 80;
/** @param {string} memberId */
export const keyOf = (memberId) => `member:${memberId}`;
/** @param {string} key */
export const idOf = (key) => key.slice("member:".length);

/**
 * `with` contains the ids of the preselected members. @param {{with?: string[], onClose: () => void}} props
 */
export function GroupDialog({ with: those = [], onClose }) {
  const [keys, setKeys] = useState(those.map(keyOf));
  const [name, setName] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const make = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    try {
      openConversation(await (await privateClient()).createGroup(keys.map(idOf), name.trim()));
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${t("private-group")} onClose=${onClose}>
    <form class="stack" novalidate onSubmit=${make}>
      <p>${t("private-group-text")}</p>
      ${
        keys.length < MAX_OTHERS &&
        html`<${Pick}
          label=${t("private-group-who")}
          only="member"
          chosen=${[...keys, keyOf(member.value?.id ?? "")]}
          onPick=${(/** @type {string} */ key) => setKeys([...keys, key])}
        />`
      }
      ${
        keys.length > 0 &&
        html`<${Chips}
          label=${t("private-group-people")}
          keys=${keys}
          onRemove=${(/** @type {string} */ key) => setKeys(keys.filter((other) => other !== key))}
        />`
      }
      <${Field}
        label=${t("private-group-name")}
        hint=${t("private-group-name-hint")}
        value=${name}
        maxlength=${MAX_NAME_LENGTH}
        autocomplete="off"
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setName(event.currentTarget.value)}
      />
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <p class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button} look="primary" type="submit" disabled=${busy || keys.length < 2}>
          ${t("private-group-make")}
        <//>
      </p>
    </form>
  <//>`;
}
