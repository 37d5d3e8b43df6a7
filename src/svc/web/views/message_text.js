// What somebody wrote, as it is read here: with our emoji, roles and channels, and the people by their present names.

/** @import { Message } from "../types/api.js" */
/** @import { Context } from "./markdown/context.js" */

import { channelsById } from "../state/channels.js";
import { emoji } from "../state/emoji.js";
import { colourOf, memberOf, roleName, rolesById } from "../state/people.js";
import { open, placeIn, showDialog } from "../state/place.js";
import { member } from "../state/server.js";
import { html, useMemo } from "../vendor/preact.js";
import { computed } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { Markdown as Shown } from "./markdown/markdown.js";
import { plain as plainly } from "./markdown/plain.js";

/** What a text refers to. Only those who are mentioned are looked up, when their name is shown. */
const context = computed(() => /** @type {Context} */ ({
  ownId: member.value?.id ?? null,
  ownRoles: new Set(member.value?.roles ?? []),
  emoji: emoji.value,
  roles: new Map([...rolesById.value].map(([id, role]) => [id, { name: roleName(role), color: colourOf(role) }])),
  channels: channelsById.value,
  members: (id) => memberOf(id)?.nickname,
  onMention: (memberId) => showDialog("profile", { memberId }),
  onChannel: (id) => { if (channelsById.value.get(id)?.type === "text") open(id); },
  placeOf,
}));

/** @param {URL} url */
function placeOf(url) {
  const { channelId, messageId } = placeIn(url) ?? {};
  const channel = channelsById.value.get(channelId ?? "");
  return channel && messageId ? { words: t("link-to-message", { channel: channel.name }), go: () => open(channel.id, messageId) } : null;
}

/** The text of a message or a card. In the text of a posted `message` only those are mentioned whom the server has told. @param {{text: string, message?: Pick<Message, "mentions" | "mention_groups">}} props */
export function Markdown({ text, message }) {
  const [known, { mentions, mention_groups: groups }] = [context.value, message ?? {}];
  const own = useMemo(() => (mentions ? { ...known, mentioned: new Set([...mentions, ...(groups ?? [])]) } : known), [known, mentions, groups]);
  return html`<${Shown} text=${text} context=${own} />`;
}

/** The same in one line, without its signs. @param {string} text */
export const plain = (text) => plainly(text, context.value);
