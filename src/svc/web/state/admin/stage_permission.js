// The permission to speak in a voice channel. If not everybody has it, the call is a stage with an audience.

/** @import { Override } from "../../types/api.js" */

import { channelsById, may } from "../channels.js";
import { memberOf, roles as known } from "../people.js";
import { overridesOf, putOverride, replaced } from "./channels.js";
import { inChannel, ofRoles, withWord } from "./permissions.js";
import { ranksBelow } from "./role_rank.js";

/** @param {string} memberId @param {string} channelId */
export const mayLetSpeak = (memberId, channelId) =>
  channelsById.value.has(channelId) && may("manage_channels") && ranksBelow(memberOf(memberId));

/**
 * Invite a member to speak in a channel, or move them to its audience. The member's override in the channel
 * changes only if their roles do not already have that effect.
 * @param {string} memberId @param {string} channelId @param {boolean} speaks
 */
export async function letSpeak(memberId, channelId, speaks) {
  const overrides = await overridesOf(channelId);
  /** @type {Override} */
  const own = overrides.find(({ type, target_id: id }) => type === "member" && id === memberId) ?? {
    type: "member",
    target_id: memberId,
    allow: [],
    deny: [],
  };
  const neutral = withWord(own, "speak", "neutral");
  const roleIds = memberOf(memberId)?.roles ?? [];
  const serverWide = ofRoles(known.value.filter(({ id }) => roleIds.includes(id)));
  const might = inChannel(serverWide, roleIds, memberId, replaced(overrides, neutral)).has("speak");
  await putOverride(
    channelId,
    might === speaks ? neutral : withWord(own, "speak", speaks ? "allow" : "deny"),
  );
}
