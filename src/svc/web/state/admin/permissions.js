// Computes permissions from roles and a channel's overrides, with the same rules as the server. Sends no
// requests.

/** @import { Override, Role } from "../../types/api.js" */
/** @import { Permission } from "../../types/wire.js" */

/**
 * The permissions in display order: first those that a channel can override, then the server-wide ones.
 * @type {{name: string, permissions: Permission[]}[]}
 */
export const GROUPS = [
  {
    name: "text",
    permissions: [
      "view_channel",
      "send_messages",
      "attach_files",
      "add_reactions",
      "mention_everyone",
      "manage_messages",
      "manage_webhooks",
    ],
  },
  {
    name: "voice",
    permissions: ["join_voice", "speak", "share_video", "share_screen", "mute_members", "move_members"],
  },
  {
    name: "members",
    permissions: [
      "change_nickname",
      "create_invites",
      "manage_invites",
      "manage_nicknames",
      "timeout_members",
      "kick_members",
      "ban_members",
      "view_reports",
      "view_audit_log",
    ],
  },
  {
    name: "server",
    permissions: ["manage_channels", "manage_roles", "manage_emoji", "manage_bots", "manage_automod"],
  },
];
/** The groups of permissions that apply to a single channel. */
export const CHANNEL_GROUPS = GROUPS.slice(0, 2);
export const OF_A_CHANNEL = CHANNEL_GROUPS.flatMap(({ permissions }) => permissions);
export const ALL = GROUPS.flatMap(({ permissions }) => permissions);

/**
 * Return the server-wide permissions of a member with these roles.
 * @param {Pick<Role, "permissions">[]} roles
 */
export function ofRoles(roles) {
  return new Set(roles.flatMap(({ permissions }) => permissions));
}

/**
 * Return the permissions in a channel. Role overrides apply first, with allow winning over deny. Then the
 * member's own override applies. Without view_channel, the member has no permissions in the channel.
 * @param {Set<Permission>} serverWide @param {string[]} roleIds @param {string | null} memberId @param
 *   {Override[]} overrides
 */
export function inChannel(serverWide, roleIds, memberId, overrides) {
  const granted = new Set(serverWide);
  const ofTheirs = overrides.filter(({ type, target_id: id }) => type === "role" && roleIds.includes(id));
  for (const { deny } of ofTheirs) for (const name of deny) granted.delete(name);
  for (const { allow } of ofTheirs) for (const name of allow) granted.add(name);
  const own = overrides.find(({ type, target_id: id }) => type === "member" && id === memberId);
  for (const name of own?.deny ?? []) granted.delete(name);
  for (const name of own?.allow ?? []) granted.add(name);
  return granted.has("view_channel")
    ? granted
    : new Set([...granted].filter((name) => !OF_A_CHANNEL.includes(name)));
}

/** @typedef {"allow" | "deny" | "neutral"} Word */

/**
 * Return an override's setting for a permission: "allow", "deny" or "neutral".
 * @param {Pick<Override, "allow" | "deny"> | null | undefined} override
 * @param {Permission} permission
 * @returns {Word}
 */
export function settingOf(override, permission) {
  const allowed = /** @type {Override["allow"][number]} */ (permission);
  if (override?.allow.includes(allowed)) return "allow";
  return override?.deny.includes(allowed) ? "deny" : "neutral";
}

/**
 * Return the override with a different setting for a permission.
 * @template {Pick<Override, "allow" | "deny">} O
 * @param {O} override @param {Permission} permission @param {Word} word @returns {O}
 */
export function withWord(override, permission, word) {
  const others = (/** @type {Override["allow"]} */ names) => names.filter((name) => name !== permission);
  const { allow, deny } = override;
  const allowed = /** @type {Override["allow"][number]} */ (permission);
  return {
    ...override,
    allow: word === "allow" ? [...others(allow), allowed] : others(allow),
    deny: word === "deny" ? [...others(deny), allowed] : others(deny),
  };
}
