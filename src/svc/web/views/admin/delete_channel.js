// The confirmation before a channel is deleted.

import { channelsById } from "../../state/channels.js";
import { deleteChannel } from "../../state/admin/channels.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { TypedConfirm } from "./parts/typed_confirm.js";

/** @param {{channelId: string, onClose: () => void}} props */
export function DeleteChannel({ channelId, onClose }) {
  const channel = channelsById.value.get(channelId);
  if (!channel) return null;
  const text = channel.type === "category" ? t("category-delete-text") : t("channel-delete-text");
  return html`<${TypedConfirm}
    title=${t("channel-delete-title", { name: channel.name })}
    text=${text}
    name=${channel.name}
    action=${t("channel-delete")}
    onConfirm=${() => deleteChannel(channelId)}
    onClose=${onClose}
  />`;
}
