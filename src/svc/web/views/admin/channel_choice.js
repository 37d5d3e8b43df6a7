// Choose one of the text channels in which we manage webhooks.

import { may, textChannels } from "../../state/channels.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/** Return the channels in which we manage webhooks. */
export const webhookChannels = () => textChannels.value.filter(({ id }) => may("manage_webhooks", id));

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
