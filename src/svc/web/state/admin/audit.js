// Lists the kinds of administrative actions, and fetches pages of the audit log.

import { api } from "../server.js";

/** The kinds of administrative actions, by area. */
export const ACTIONS = {
  members: [
    "member_rename",
    "member_status_clear",
    "member_link_remove",
    "member_timeout",
    "member_timeout_end",
    "member_kick",
    "member_ban",
    "member_unban",
    "member_role_give",
    "member_role_take",
    "owner_transfer",
    "recovery_create",
    "recovery_use",
    "report_resolve",
    "rule_create",
    "rule_edit",
    "rule_delete",
    "rule_trial",
    "rule_switch_off",
  ],
  roles: ["role_create", "role_edit", "role_move", "role_delete"],
  channels: ["channel_create", "channel_edit", "channel_move", "channel_override", "channel_delete"],
  messages: ["message_delete", "pin_add", "pin_remove", "previews_remove"],
  voice: ["voice_mute", "voice_stop_screen", "voice_disconnect", "voice_move"],
  invites: ["invite_create", "invite_revoke", "application_approve", "application_refuse"],
  webhooks: ["webhook_create", "webhook_edit", "webhook_delete", "bot_create", "bot_token", "bot_delete"],
  server: [
    "settings_change",
    "icon_change",
    "icon_remove",
    "emoji_create",
    "emoji_rename",
    "emoji_delete",
    "backup_create",
    "backup_download",
    "backup_delete",
    "import",
  ],
};

/**
 * Fetch a page of the log: {entries: [{id, at_ms, actor_id, action, target_id, details}], next}.
 * @param {{actor?: string, target?: string, action?: string}} query
 * @param {number | null} [before]
 */
export function auditPage({ actor, target, action }, before = null) {
  const filters = Object.entries({ actor_id: actor, target_id: target, action, before })
    .filter(([, value]) => value)
    .map(([name, value]) => [name, `${value}`]);
  return api("GET", `/api/audit?${new URLSearchParams(filters)}`);
}
