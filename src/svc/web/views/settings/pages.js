// Lists the settings pages in four groups, in display order.

/**
 * @import { FunctionComponent } from "../../vendor/preact.js"
 * @import { IconName } from "../parts/icon.js"
 *
 * `hasPermission` returns whether the user may open the page. `words` returns the names of its settings for
 * the search.
 * @typedef {{name: string, group: "own" | "community" | "moderation" | "system", icon: IconName,
 *   Page: FunctionComponent<any>, hasPermission?: () => boolean, words: () => string[]}} SettingsPage
 */

import { hasPermission, permissions } from "../../state/channels.js";
import { isOwner, MANAGING } from "../../state/admin/role_rank.js";
import { Lazy } from "../parts/lazy_component.js";
import { NotificationsPage } from "../alerts/notifications_page.js";
import { BlockedPage } from "./blocked_page.js";
import { DataPage } from "./data_page.js";
import { DevicesPage } from "./devices_page.js";
import { LookPage } from "./appearance_page.js";
import { ProfilePage } from "./profile_page.js";
import { IdentityPage } from "./identity_page.js";
import { ServersPage } from "./servers_page.js";
import { VoicePage } from "./voice_page.js";
import { t } from "../../words/words.js";

/** @type {SettingsPage[]} */
export const PAGES = [
  {
    name: "profile",
    group: "own",
    icon: "person",
    Page: ProfilePage,
    words: () => [t("your-name"), t("your-status"), t("choose-picture")],
  },
  {
    name: "look",
    group: "own",
    icon: "palette",
    Page: LookPage,
    words: () => [t("theme"), t("motion"), t("density"), t("text-size"), t("emoticons"), t("language")],
  },
  {
    name: "voice",
    group: "own",
    icon: "mic",
    Page: VoicePage,
    words: () => [
      t("choose-microphone"),
      t("input"),
      t("noise"),
      t("echo"),
      t("gain"),
      t("music"),
      t("choose-speaker"),
      t("choose-camera"),
      t("mirror"),
      t("blur"),
      t("quality-of-pictures"),
      t("less-data"),
    ],
  },
  {
    name: "notifications",
    group: "own",
    icon: "bell",
    Page: NotificationsPage,
    words: () => [t("level-of-all"), t("install"), t("sounds"), t("mute-all"), t("notices"), t("push")],
  },
  {
    name: "devices",
    group: "own",
    icon: "devices",
    Page: DevicesPage,
    words: () => [t("link-device"), t("recovery-code")],
  },
  {
    name: "servers",
    group: "own",
    icon: "globe",
    Page: ServersPage,
    words: () => [t("servers-address"), t("link-accounts"), t("servers-make-link")],
  },
  { name: "blocked", group: "own", icon: "person-off", Page: BlockedPage, words: () => [t("unblock-short")] },
  {
    name: "data",
    group: "own",
    icon: "download",
    Page: DataPage,
    words: () => [t("export-title"), t("leave-server"), t("delete-data")],
  },
  {
    name: "identity",
    group: "own",
    icon: "sign-out",
    Page: IdentityPage,
    words: () => [t("sign-out"), t("change-identity")],
  },
  {
    name: "server",
    group: "community",
    icon: "server",
    Page: Lazy(() => import("../admin/server_page.js"), "ServerPage"),
    hasPermission: isOwner,
    words: () => [t("join-policy"), t("bad-words"), t("welcome-channel"), t("server-icon")],
  },
  {
    name: "channels",
    group: "community",
    icon: "hash",
    Page: Lazy(() => import("../admin/channels_page.js"), "ChannelsPage"),
    hasPermission: () => hasPermission("manage_channels"),
    words: () => [t("create-channel"), t("archived-channels")],
  },
  {
    name: "members",
    group: "community",
    icon: "people",
    Page: Lazy(() => import("../admin/members_page.js"), "MembersPage"),
    hasPermission: () => MANAGING.some((permission) => hasPermission(permission)),
    words: () => [t("find-member"), t("timed-out")],
  },
  {
    name: "invites",
    group: "community",
    icon: "invite",
    Page: Lazy(() => import("../admin/invites_page.js"), "InvitesPage"),
    hasPermission: () => hasPermission("create_invites") || hasPermission("manage_invites"),
    words: () => [t("invite-people"), t("applications")],
  },
  {
    name: "roles",
    group: "community",
    icon: "tags",
    Page: Lazy(() => import("../admin/roles_page.js"), "RolesPage"),
    hasPermission: () => hasPermission("manage_roles"),
    words: () => [t("create-role")],
  },
  {
    name: "emoji",
    group: "community",
    icon: "emoji",
    Page: Lazy(() => import("../admin/emoji_page.js"), "EmojiPage"),
    hasPermission: () => hasPermission("manage_emoji"),
    words: () => [t("emoji-add")],
  },
  {
    name: "rules",
    group: "moderation",
    icon: "shield",
    Page: Lazy(() => import("../admin/rules_page.js"), "RulesPage"),
    hasPermission: () => hasPermission("manage_automod"),
    words: () => [t("rule-create"), t("rule-whom"), t("rule-exceptions")],
  },
  {
    name: "reports",
    group: "moderation",
    icon: "flag",
    Page: Lazy(() => import("../admin/reports_page.js"), "ReportsPage"),
    hasPermission: () => hasPermission("view_reports"),
    words: () => [t("reports-done")],
  },
  {
    name: "bans",
    group: "moderation",
    icon: "ban",
    Page: Lazy(() => import("../admin/bans_page.js"), "BansPage"),
    hasPermission: () => hasPermission("ban_members"),
    words: () => [t("unban")],
  },
  {
    name: "audit",
    group: "moderation",
    icon: "log",
    Page: Lazy(() => import("../admin/audit_page.js"), "AuditPage"),
    hasPermission: () => hasPermission("view_audit_log"),
    words: () => [t("audit-by"), t("audit-to")],
  },
  {
    name: "bots",
    group: "system",
    icon: "bot",
    Page: Lazy(() => import("../admin/bots_page.js"), "BotsPage"),
    hasPermission: () => hasPermission("manage_bots"),
    words: () => [t("create-bot"), t("bot-token-label")],
  },
  {
    name: "webhooks",
    group: "system",
    icon: "webhook",
    Page: Lazy(() => import("../admin/webhooks_page.js"), "WebhooksPage"),
    hasPermission: mayManageWebhooks,
    words: () => [t("create-webhook")],
  },
  {
    name: "health",
    group: "system",
    icon: "health",
    Page: Lazy(() => import("../admin/health_page.js"), "HealthPage"),
    hasPermission: isOwner,
    words: () => [t("health-versions"), t("health-since")],
  },
  {
    name: "storage",
    group: "system",
    icon: "disk",
    Page: Lazy(() => import("../admin/storage_page.js"), "StoragePage"),
    hasPermission: isOwner,
    words: () => [t("storage-by-kind"), t("storage-by-member"), t("retention")],
  },
  {
    name: "backups",
    group: "system",
    icon: "archive",
    Page: Lazy(() => import("../admin/backups_page.js"), "BackupsPage"),
    hasPermission: isOwner,
    words: () => [t("backup-make"), t("backup-download")],
  },
];

/** Return whether the user may manage webhooks on the server or in some channel. */
function mayManageWebhooks() {
  return (
    hasPermission("manage_webhooks") ||
    Object.values(permissions.value.channels).some((names) => names.includes("manage_webhooks"))
  );
}
