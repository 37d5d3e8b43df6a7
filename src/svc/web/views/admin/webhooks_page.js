// Lists and creates webhooks, which are URLs that programs use to post in a channel.

/** @import { ManagedWebhook as Webhook } from "../../types/api.js" */

import { timesChanged } from "../../state/admin/change_counters.js";
import { createWebhook, webhooks } from "../../state/admin/management_requests.js";
import { channelsById } from "../../state/channels.js";
import { currentLocation } from "../../state/navigation.js";
import { html, useState } from "../../vendor/preact.js";
import { useResponse, useFormRequest } from "./parts/form_request.js";
import { ListPage, Row, useGone } from "./parts/list_page.js";
import { ChannelChoice, webhookChannels, WebhookEditor } from "./webhook_editor.js";
import { Avatar } from "../parts/avatar.js";
import { Button, IconButton } from "../parts/button.js";
import { Field } from "../parts/field.js";
import { t } from "../../words/words.js";

export function WebhooksPage() {
  const { value, problem, set, again } = useResponse(webhooks, [timesChanged("webhooks")]);
  const [open, setOpen] = useState(/** @type {string | null} */ (null));
  const done = () => setOpen(null);
  const put = (/** @type {Webhook} */ webhook) =>
    set((all) => [...all.filter(({ id }) => id !== webhook.id), webhook]);
  const shown = value?.find(({ id }) => id === open);
  useGone(!open || !value || shown, shown?.name, (name) => t("webhook-was-deleted", { name }), done);
  if (shown)
    return html`<${WebhookEditor}
      key=${shown.id}
      webhook=${shown}
      onChanged=${put}
      onDone=${done}
      onDeleted=${() => set((all) => all.filter(({ id }) => id !== shown.id))}
    />`;
  const made = (/** @type {Webhook} */ webhook) => {
    put(webhook);
    setOpen(webhook.id);
  };
  return html`<${ListPage}
    label=${t("settings-webhooks")}
    about=${t("webhooks-about")}
    items=${value && [...value].sort((a, b) => a.name.localeCompare(b.name))}
    problem=${problem}
    again=${again}
    empty=${t("no-webhooks")}
    row=${(/** @type {Webhook} */ { id, name, picture, channel_id: channelId }) => html`<${Row}
      key=${id}
      title=${name}
      text=${channelsById.value.get(channelId ?? "")?.name ?? t("webhook-nowhere")}
      sign=${html`<${Avatar} id=${id} name=${name} url=${picture} size="small" />`}
    >
      <${IconButton} icon="gear" label=${t("edit-named", { name })} onClick=${() => setOpen(id)} />
    <//>`}
  >
    <${Making} onMade=${made} />
  <//>`;
}

/** @param {{onMade: (webhook: Webhook) => void}} props */
function Making({ onMade }) {
  const [name, setName] = useState("");
  const [channelId, setChannelId] = useState(currentLocation.value?.channelId);
  const { busy, problem, setProblem, get } = useFormRequest();
  const usable = webhookChannels();
  const chosen = usable.some(({ id }) => id === channelId) ? channelId : usable[0]?.id;
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!name.trim()) {
      setProblem(t("channel-name-missing"));
      return;
    }
    const made = await get(() => createWebhook({ name: name.trim(), channel_id: chosen }));
    if (made) onMade(made);
  };
  return html`<form class="filter-row" onSubmit=${submit} novalidate>
    <${Field}
      label=${t("webhook-name")}
      value=${name}
      maxlength="64"
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setName(event.currentTarget.value)}
      problem=${problem}
      autocomplete="off"
    />
    <${ChannelChoice} value=${chosen} onChange=${setChannelId} />
    <p><${Button} look="primary" type="submit" disabled=${busy}>${t("create-webhook")}<//></p>
  </form>`;
}
