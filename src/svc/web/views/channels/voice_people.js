// Renders a voice channel's participants in the channel list.

/** @import { Channel } from "../../types/api.js" */
/** @import { Present } from "../../state/voice.js" */
/** @import { Marks as Marked } from "../../call/participants.js" */
/** @import { IconName } from "../parts/icon.js" */

import { callChannel, speakers } from "../../call/current_call.js";
import { memberOf } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { speaking } from "../../state/voice.js";
import { html, useComputed } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { openMenuIn } from "../admin/channel_menu.js";
import { MemberMenu } from "../admin/member_menu.js";
import { draggablePerson, voiceItems } from "../admin/voice_moderation_items.js";
import { Avatar } from "../parts/avatar.js";
import { Icon } from "../parts/icon.js";

/** @param {{channel: Channel, people: Present[]}} props */
export function VoicePeople({ channel, people }) {
  return html`<ul class="voice-people" aria-label=${t("people-in", { channel: channel.name })}>
    ${people.map(
      (person) => html`<${VoicePerson} key=${person.id} person=${person} channelId=${channel.id} />`,
    )}
  </ul>`;
}

/** @param {{person: Present, channelId: string}} props */
function VoicePerson({ person, channelId }) {
  const speaks = useComputed(() =>
    (callChannel.value === channelId ? speakers.value : (speaking.value[channelId] ?? [])).includes(
      person.id,
    ),
  ).value;
  const known = useComputed(() => memberOf(person.id)).value;
  const show = () => showDialog("profile", { memberId: person.id });
  const items = voiceItems(person, channelId);
  return html`<li
    class=${[speaks && "speaking", person.lost && "lost"].filter(Boolean).join(" ")}
    ...${draggablePerson(person.id, channelId)}
    onContextMenu=${openMenuIn}
  >
    <button type="button" onClick=${show}>
      <${Avatar} id=${person.id} name=${person.nickname} url=${known?.avatar} size="small" />
      <span dir="auto">${person.nickname}</span>
      <${Marks} person=${person} sent />
    </button>
    ${
      known &&
      items.length > 0 &&
      html`<span class="row-actions"><${MemberMenu} member=${known} more=${items} /></span>`
    }
  </li>`;
}

/**
 * The icons for being muted or deafened, for a raised hand and, with `sent`, for the camera and screen.
 * @param {{person: Marked & {camera: object | boolean | null, screen: object | boolean | null}, sent?:
 *   boolean}} props
 */
export function Marks({ person, sent = false }) {
  const {
    muted,
    deafened,
    hand,
    camera,
    screen,
    lost,
    may_speak: speaks,
    self_muted: selfMuted,
    self_deafened: selfDeafened,
  } = person;
  /** @type {(false | null | undefined | [icon: IconName, words: string, forced?: boolean])[]} */
  const marks = [
    lost && ["again", t("call-reconnecting"), false],
    sent && screen && ["screen", t("source-screen"), false],
    sent && camera && ["camera", t("source-camera"), false],
    (hand ?? 0) > 0 && ["hand", t("hand-raised"), false],
    (deafened || selfDeafened) && ["deafen", deafened ? t("deafened-by-moderator") : t("deafened"), deafened],
    (muted || (selfMuted && speaks !== false)) && [
      "mic-off",
      muted ? t("muted-by-moderator") : t("muted"),
      muted,
    ],
  ];
  return marks
    .filter((mark) => !!mark)
    .map(
      ([icon, words, forced]) =>
        html`<span class=${`voice-mark ${forced ? "forced" : ""}`} key=${icon} title=${words}>
          <${Icon} name=${icon} />
          <span class="unseen">${words}</span>
        </span>`,
    );
}
