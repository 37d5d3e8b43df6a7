// Edits one webhook: its URL, name, avatar and channel. Shows instructions for programs and a form for
// posting a test card.

/** @import { ManagedWebhook as Webhook } from "../../types/api.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import {
  addressOfWebhook,
  deleteWebhook,
  editWebhook,
  setWebhookPicture,
} from "../../state/admin/management_requests.js";
import { hasPermission, textChannels } from "../../state/channels.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { CardComposer } from "./card_composer.js";
import { Snippets } from "./webhook_snippets.js";
import { WebhookPosts } from "./webhook_posts.js";
import { BackToList } from "./parts/list_page.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Copyable } from "../parts/copy_field.js";
import { Confirm } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { SaveBar } from "../parts/save_bar.js";
import { t } from "../../words/words.js";

/**
 * @param {{webhook: Webhook, onChanged: (webhook: Webhook) => void, onDone: () => void, onDeleted: () =>
 *   void}} props
 */
export function WebhookEditor({ webhook, onChanged, onDone, onDeleted }) {
  const { id, name, picture, channel_id: channelId } = webhook;
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const wanted = typed ?? name;
  const [ending, setEnding] = useState(false);
  const [posted, setPosted] = useState(0);
  /** @type {RefObject<HTMLInputElement>} */
  const input = useRef(null);
  const address = addressOfWebhook(webhook);
  const change = (/** @type {{name?: string, channel_id?: string}} */ changes) =>
    tryOrNotify(editWebhook(id, changes).then(onChanged));
  const picked = (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const [file] = event.currentTarget.files ?? [];
    event.currentTarget.value = "";
    if (file) tryOrNotify(setWebhookPicture(id, file).then(onChanged));
  };
  const rename = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (wanted.trim())
      change({ name: wanted.trim() }).then((done) => {
        if (!done) return;
        setTyped(null);
        notify(t("saved"), "done");
      });
  };
  return html`
    <${BackToList} onBack=${onDone}>${t("all-webhooks")}<//>
    <div class="own-picture">
      <${Avatar} id=${id} name=${name} url=${picture} size="huge" />
      <${Button} onClick=${() => input.current.click()}>${t("choose-picture")}<//>
      <input
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        hidden
        ref=${input}
        onChange=${picked}
        aria-label=${t("choose-picture")}
      />
    </div>
    <form class="stack" onSubmit=${rename}>
      <${Field}
        label=${t("webhook-name")}
        value=${wanted}
        maxlength="64"
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setTyped(event.currentTarget.value)}
        autocomplete="off"
      />
      ${wanted.trim() !== name && html`<${SaveBar} onDiscard=${() => setTyped(null)} />`}
    </form>
    <${ChannelChoice}
      value=${channelId}
      onChange=${(/** @type {string} */ to) => change({ channel_id: to })}
    />
    ${
      address
        ? html`
            <${Copyable} label=${t("webhook-url")} text=${address} />
            <p class="quiet">${t("webhook-url-about")}</p>
            <${WebhookPosts} id=${id} times=${posted} />
            <${Snippets} address=${address} />
            <${CardComposer} address=${address} onPosted=${() => setPosted(posted + 1)} />
          `
        : html`<p class="error">${t("webhook-no-url")}</p>`
    }
    <section class="ending">
      <${Button} look="danger" onClick=${() => setEnding(true)}>${t("webhook-delete")}<//>
    </section>
    ${
      ending &&
      html`<${Confirm}
        title=${t("webhook-delete-title", { name })}
        text=${t("webhook-delete-text")}
        action=${t("webhook-delete")}
        onConfirm=${() => tryOrNotify(deleteWebhook(id)).then((done) => done && onDeleted())}
        onClose=${() => setEnding(false)}
      />`
    }
  `;
}

/** Return the channels whose webhooks the current user may manage. */
export const webhookChannels = () =>
  textChannels.value.filter(({ id }) => hasPermission("manage_webhooks", id));

/** @param {{value: string | null | undefined, onChange: (id: string) => void}} props */
export function ChannelChoice({ value, onChange }) {
  return html`<label class="field">
    ${t("webhook-channel")}
    <select
      onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) => onChange(event.currentTarget.value)}
    >
      ${webhookChannels().map(
        ({ id, name }) => html`<option key=${id} value=${id} selected=${id === value}>${name}</option>`,
      )}
    </select>
  </label>`;
}
