// Renders message text with the server's custom emoji, roles and channels, and with members' current names.

/** @import { Message } from "../types/api.js" */
/** @import { Context } from "./markdown/context.js" */

import { channelsById } from "../state/channels.js";
import { emoji } from "../state/emoji.js";
import { colourOf, memberOf, roleName, rolesById } from "../state/people.js";
import { open, locationIn, showDialog } from "../state/navigation.js";
import { member } from "../state/server.js";
import { html, useMemo } from "../vendor/preact.js";
import { computed } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { Markdown as Shown } from "./markdown/markdown.js";
import { plain as plainly } from "./markdown/plain_text.js";

/** The data that texts refer to. Members are looked up only when they are mentioned. */
const context = computed(
  () =>
    /** @type {Context} */ ({
      ownId: member.value?.id ?? null,
      ownRoles: new Set(member.value?.roles ?? []),
      emoji: emoji.value,
      roles: new Map(
        [...rolesById.value].map(([id, role]) => [id, { name: roleName(role), color: colourOf(role) }]),
      ),
      channels: channelsById.value,
      members: (id) => memberOf(id)?.nickname,
      onMention: (memberId) => showDialog("profile", { memberId }),
      onChannel: (id) => {
        if (channelsById.value.get(id)?.type === "text") open(id);
      },
      locationOf,
    }),
);

/** @param {URL} url */
function locationOf(url) {
  const { channelId, messageId } = locationIn(url) ?? {};
  const channel = channelsById.value.get(channelId ?? "");
  return channel && messageId
    ? { words: t("link-to-message", { channel: channel.name }), go: () => open(channel.id, messageId) }
    : null;
}

/**
 * The rendered text of a message or a card. If `message` is given, only the mentions that the server lists
 * for it are rendered as mentions.
 * @param {{text: string, message?: Pick<Message, "mentions" | "mention_groups">}} props
 */
export function Markdown({ text, message }) {
  const [known, { mentions, mention_groups: groups }] = [context.value, message ?? {}];
  const own = useMemo(
    () => (mentions ? { ...known, mentioned: new Set([...mentions, ...(groups ?? [])]) } : known),
    [known, mentions, groups],
  );
  return html`<${Shown} text=${text} context=${own} />`;
}

/** Return the text on one line, without markdown. @param {string} text */
export const plain = (text) => plainly(text, context.value);
