// Lists all channels in the settings, including archived channels.

/** @import { Channel } from "../../types/api.js" */
/** @import { IconName } from "../parts/icon.js" */

import { channels } from "../../state/channels.js";
import { archivedChannels, editChannel } from "../../state/admin/channels.js";
import { sectionsOf, stepped } from "../../state/admin/channel_order.js";
import { tryOrNotify } from "../../state/notices.js";
import { showDialog } from "../../state/navigation.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { step } from "./channel_menu.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";

/** @type {{[type in Channel["type"]]: IconName}} */
const SIGNS = { text: "hash", voice: "voice", category: "menu" };

export function ChannelsPage() {
  const all = sectionsOf(channels.value).flatMap(({ category, channels: inside }) =>
    category ? [category, ...inside] : inside,
  );
  return html`
    <${ListPage}
      label=${t("channels")}
      about=${t("channels-about")}
      keys=${t("channels-keys")}
      items=${all}
      empty=${t("no-channels")}
      row=${(/** @type {Channel} */ channel) => html`<${Managed} key=${channel.id} channel=${channel} />`}
    >
      <p>
        <${Button} look="primary" icon="add" onClick=${() => showDialog("create-channel")}>
          ${t("create-channel")}
        <//>
      </p>
    <//>
    <${Archive} />
  `;
}

/** @param {{channel: Channel}} props */
function Managed({ channel }) {
  const { id, name, topic, type, parent_id: parent } = channel;
  const move = (/** @type {1 | -1} */ by) =>
    html`<${IconButton}
      icon=${by < 0 ? "up" : "lower"}
      label=${by < 0 ? t("move-up-named", { name }) : t("move-down-named", { name })}
      disabled=${!stepped(channels.value, id, by)}
      onClick=${() => step(channel, by)}
    />`;
  return html`<${Row}
    title=${name}
    text=${topic}
    sign=${html`<${Icon} name=${SIGNS[type]} />`}
    data-inner=${Boolean(parent)}
  >
    ${move(-1)}${move(1)}
    <${IconButton}
      icon="gear"
      label=${t("edit-named", { name })}
      onClick=${() => showDialog("channel", { channelId: id })}
    />
  <//>`;
}

function Archive() {
  const { value, problem, again } = useResponse(archivedChannels, [channels.value]);
  if (!value?.length && !problem) return null;
  const bring = async (/** @type {string} */ id) => {
    if (await tryOrNotify(editChannel(id, { archived: false }))) again();
  };
  return html`
    <h4>${t("archived-channels")}</h4>
    <${ListPage}
      label=${t("archived-channels")}
      items=${value}
      problem=${problem}
      again=${again}
      empty=""
      row=${(
        /** @type {Channel} */ { id, name, type },
      ) => html`<${Row} key=${id} title=${name} sign=${html`<${Icon} name=${SIGNS[type]} />`}>
        <${Button} onClick=${() => bring(id)}>${t("bring-back")}<//>
      <//>`}
    />
  `;
}
