// The pages of the settings in order: {name, Page, may?}; `may` returns whether we see it.

import { may, permissions } from "../../state/channels.js";
import { isOwner, MANAGING } from "../../state/admin/rank.js";
import { Later } from "../parts/later.js";
import { NotificationsPage } from "../alerts/notifications_page.js";
import { BlockedPage } from "./blocked_page.js";
import { DataPage } from "./data_page.js";
import { DevicesPage } from "./devices_page.js";
import { LookPage } from "./appearance_page.js";
import { ProfilePage } from "./profile_page.js";
import { IdentityPage } from "./identity_page.js";
import { VoicePage } from "./voice_page.js";

export const PAGES = [
  { name: "profile", Page: ProfilePage },
  { name: "look", Page: LookPage },
  { name: "voice", Page: VoicePage },
  { name: "notifications", Page: NotificationsPage },
  { name: "devices", Page: DevicesPage },
  { name: "blocked", Page: BlockedPage },
  { name: "data", Page: DataPage },
  { name: "identity", Page: IdentityPage },
  { name: "server", Page: Later(() => import("../admin/server_page.js"), "ServerPage"), may: isOwner },
  {
    name: "channels",
    Page: Later(() => import("../admin/channels_page.js"), "ChannelsPage"),
    may: () => may("manage_channels"),
  },
  {
    name: "members",
    Page: Later(() => import("../admin/members_page.js"), "MembersPage"),
    may: () => MANAGING.some((each) => may(each)),
  },
  {
    name: "invites",
    Page: Later(() => import("../admin/invites_page.js"), "InvitesPage"),
    may: () => may("create_invites") || may("manage_invites"),
  },
  {
    name: "roles",
    Page: Later(() => import("../admin/roles_page.js"), "RolesPage"),
    may: () => may("manage_roles"),
  },
  {
    name: "rules",
    Page: Later(() => import("../admin/rules_page.js"), "RulesPage"),
    may: () => may("manage_automod"),
  },
  {
    name: "reports",
    Page: Later(() => import("../admin/reports_page.js"), "ReportsPage"),
    may: () => may("view_reports"),
  },
  {
    name: "bans",
    Page: Later(() => import("../admin/bans_page.js"), "BansPage"),
    may: () => may("ban_members"),
  },
  {
    name: "audit",
    Page: Later(() => import("../admin/audit_page.js"), "AuditPage"),
    may: () => may("view_audit_log"),
  },
  {
    name: "emoji",
    Page: Later(() => import("../admin/emoji_page.js"), "EmojiPage"),
    may: () => may("manage_emoji"),
  },
  {
    name: "bots",
    Page: Later(() => import("../admin/bots_page.js"), "BotsPage"),
    may: () => may("manage_bots"),
  },
  {
    name: "webhooks",
    Page: Later(() => import("../admin/webhooks_page.js"), "WebhooksPage"),
    may: mayManageWebhooks,
  },
  { name: "health", Page: Later(() => import("../admin/health_page.js"), "HealthPage"), may: isOwner },
  { name: "storage", Page: Later(() => import("../admin/storage_page.js"), "StoragePage"), may: isOwner },
  { name: "backups", Page: Later(() => import("../admin/backups_page.js"), "BackupsPage"), may: isOwner },
];

/** Whether we have the permission on the server, or in any channel. */
function mayManageWebhooks() {
  return (
    may("manage_webhooks") ||
    Object.values(permissions.value.channels).some((names) => names.includes("manage_webhooks"))
  );
}
