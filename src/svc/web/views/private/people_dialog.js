// Shows the dialog for a private group conversation's members and name. It is also used to add members and to
// leave the conversation.

/** @import { Client } from "../../state/private_client.js" */

import { memberOf } from "../../state/people.js";
import { notify } from "../../state/notices.js";
import { privateClient } from "../../state/private_client.js";
import { nameOf, conversationsById } from "../../state/private_conversations.js";
import { member } from "../../state/server.js";
import { html, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Chips, Pick } from "../admin/parts/picker.js";
import { Button, IconButton } from "../parts/button.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { PersonRow } from "../people/members.js";
import { idOf, keyOf } from "./group_dialog.js";

const MAX_PEOPLE = 25;
const MAX_NAME_LENGTH = 80;

/** @param {{conversationId: string, onClose: () => void}} props */
export function PeopleDialog({ conversationId, onClose }) {
  const conversation = conversationsById.value.get(conversationId);
  const [name, setName] = useState(conversation?.name ?? "");
  const [keys, setKeys] = useState(/** @type {string[]} */ ([]));
  const [problem, setProblem] = useState("");
  const [leaving, setLeaving] = useState(false);
  const [removing, setRemoving] = useState("");
  const [busy, setBusy] = useState(false);
  if (!conversation) return null;
  const attempt = async (/** @type {(client: Client) => Promise<void>} */ act) => {
    setBusy(true);
    setProblem("");
    try {
      await act(await privateClient());
    } catch (error) {
      setProblem(explain(error));
    }
    setBusy(false);
  };
  const rename = (/** @type {Event} */ event) => {
    event.preventDefault();
    attempt(async (client) => {
      await client.rename(conversationId, name.trim());
      onClose();
    });
  };
  const add = () =>
    attempt(async (client) => {
      await client.addMembers(conversationId, keys.map(idOf));
      setKeys([]);
    });
  const leave = async () => {
    try {
      await (await privateClient()).leave(conversationId);
      onClose();
    } catch (error) {
      notify(explain(error));
    }
  };
  const remove = async () => {
    await attempt((client) => client.removeMember(conversationId, removing));
    setRemoving("");
  };
  if (removing)
    return html`<${Confirm}
      title=${t("private-remove-title", { name: nicknameOf(removing) })}
      text=${t("private-remove-text", { name: nicknameOf(removing) })}
      action=${t("private-remove")}
      onConfirm=${remove}
      onClose=${() => setRemoving("")}
    />`;
  if (leaving)
    return html`<${Confirm}
      title=${t("private-leave-title")}
      text=${t("private-leave-text", { name: nameOf(conversation) })}
      action=${t("private-leave")}
      onConfirm=${leave}
      onClose=${() => setLeaving(false)}
    />`;
  return html`<${Dialog} title=${t("private-people")} onClose=${onClose}>
    <div class="stack">
      <form class="stack" novalidate onSubmit=${rename}>
        <${Field}
          label=${t("private-group-name")}
          hint=${t("private-group-name-hint")}
          value=${name}
          maxlength=${MAX_NAME_LENGTH}
          autocomplete="off"
          onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setName(event.currentTarget.value)}
        />
        <p class="buttons">
          <${Button} type="submit" disabled=${busy || name.trim() === conversation.name}>${t("save")}<//>
        </p>
      </form>
      <ul class="person-rows" aria-label=${t("private-group-people")}>
        ${conversation.members.map(
          (id) =>
            html`<${PersonRow} key=${id} id=${id}>
              ${
                id !== member.value?.id &&
                html`<${IconButton}
                  icon="close"
                  label=${t("private-remove-them", { name: nicknameOf(id) })}
                  onClick=${() => setRemoving(id)}
                />`
              }
            <//>`,
        )}
      </ul>
      ${
        conversation.members.length + keys.length < MAX_PEOPLE &&
        html`<${Pick}
          label=${t("private-add")}
          only="member"
          chosen=${[...conversation.members.map(keyOf), ...keys]}
          onPick=${(/** @type {string} */ key) => setKeys([...keys, key])}
        />`
      }
      ${
        keys.length > 0 &&
        html`
          <${Chips}
            label=${t("private-add")}
            keys=${keys}
            onRemove=${(/** @type {string} */ key) => setKeys(keys.filter((other) => other !== key))}
          />
          <p class="quiet">${t("private-add-text")}</p>
          <p class="buttons">
            <${Button} look="primary" disabled=${busy} onClick=${add}>${t("private-add-do")}<//>
          </p>
        `
      }
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <p class="buttons">
        <${Button} look="danger" onClick=${() => setLeaving(true)}>${t("private-leave")}<//>
      </p>
    </div>
  <//>`;
}

/** @param {string} id */
const nicknameOf = (id) => memberOf(id)?.nickname ?? t("somebody");
