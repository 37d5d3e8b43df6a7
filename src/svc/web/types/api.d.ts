// The requests and responses of the chat server, generated from its descriptions by `ci/types write`.
// Do not edit it: a test compares it with the descriptions. Only the type check reads it; it is not served.

export type AccountExport = { exported_at_ms: number; member: unknown[]; devices: unknown[]; linked_accounts: unknown[]; account_confirmations: unknown[]; blocked: unknown[]; uploads: unknown[]; messages: unknown[]; reactions: unknown[] };

export type Accounts = { issuer: string; clientId: string };

export type AllBackups = { backups: Backup[]; making: BackupProgress | null; fault: string | null };

export type AllBots = { bots: Bot[] };

export type AllChannels = { channels: Channel[] };

export type AllInvites = { invites: Invite[] };

export type AllJobs = { jobs: JobStatus[] };

export type AllNotifications = { notifications: Notifications[] };

export type AllOverrides = { overrides: Override[] };

export type AllRoles = { roles: Role[] };

export type Application = { id: string; nickname: string; message: string; invite_id: string; invited_by: string | null; role_id: string; asked_at_ms: number; state: "pending" | "approved" | "refused"; reason: string; decided_by: string | null; decided_at_ms: number | null };

export type ApplicationPage = { applications: Application[]; next: string | null };

export type Attachment = { key: string; url: string; content_type: string; bytes: number; width: number | null; height: number | null; id: string; name: string; kind: "picture" | "video" | "audio" | "file"; frames: number | null; duration_ms: number | null; placeholder: string; colour: string; thumbnail: StoredFile | null; poster: StoredFile | null; alt: string };

export type AttachmentsChanged = { channel_id: string; id: string; attachments: Attachment[]; expired_attachments?: number };

export type Attempt = { at_ms: number; outcome: "ignored" | "posted" | "refused"; error: string | null; message_id: string | null; channel_id: string | null; named: NamedProblem[]; times: number };

export type AuditEntry = { id: number; at_ms: number; actor_id: string | null; action: string; target_id: string | null; details: { [name: string]: unknown } };

export type AuditPage = { entries: AuditEntry[]; next: number | null };

export type Author = { kind: "member" | "webhook"; id: string; display_name: string; avatar: string | null; bot: boolean };

export type Backup = { name: string; bytes: number; made_at_ms: number };

export type BackupFinished = { name: string | null; fault: string | null };

export type BackupLink = { url: string; expires_at_ms: number };

export type BackupProgress = { what: string; done: number; total: number };

export type Ban = { member_id: string; nickname: string; reason: string; banned_by: string | null; banned_at_ms: number };

export type Bans = { bans: Ban[]; next: string | null };

export type Block = { member_id: string };

export type Bot = { member: Member; has_token: boolean; token_made_by: string | null; token_made_at_ms: number | null };

export type CardAuthor = { name: string; url?: string; icon?: StoredPicture };

export type CardField = { name: string; value: string; inline: boolean };

export type CardFooter = { text: string; icon?: StoredPicture };

export type Challenge = { nonce: string; audience: string; identityTiers: ("account" | "local")[]; expiresAt: number };

export type ChangedSettings = { joinPolicy?: "invite" | "open"; discoverable?: boolean; lanOpen?: boolean; profanityMode?: "block" | "censor" | "flag" | "off"; linkPreviews?: boolean; name?: string; description?: string; rules?: string; welcomeChannelId?: string | null; retentionDays?: number };

export type Channel = { id: string; name: string; type: "text" | "voice" | "category"; position: number; parent_id: string | null; archived: boolean; topic: string; slow_mode_s: number; user_limit: number; bitrate_kbps: number; encrypted: boolean };

export type ChannelDeleted = { channel_id: string };

export type Check = { check: "database" | "disk" | "clock" | "files" | "buffers" | "joining" | "address" | "voice" | "uploads" | "backups"; verdict: "notice" | "ok" | "problem"; state: "sound" | "not_kept" | "roomy" | "filling" | "full" | "kept" | "adrift" | "unknown" | "ample" | "few" | "small" | "possible" | "impossible" | "reachable" | "only_here" | "insecure" | "connected" | "none" | "unreachable" | "working" | "off" | "no_worker" | "recent" | "old"; bytes?: number; waiting?: number };

export type ClaimedPackage = { device_id: string; key_package: string };

export type ClaimedPackages = { key_packages: ClaimedPackage[] };

export type ClientJoin = { room_id: string; server_id: string; server_password: string; user_token: string; user_id: string };

export type Confirmation = { digest: string; made_at_ms: number };

export type Confirmations = { confirmations: Confirmation[] };

export type ConfirmedAccount = { member_id: string; nickname: string; key: string };

export type ConnectedMember = { member_id: string; pages: number };

export type CreatedBot = { member: Member; token: string };

export type Decision = { application_id: string; state: "approved" | "pending" | "refused"; decided_by: string | null };

export type Device = { id: string; name: string; tier: "account" | "local"; current: boolean; added_at_ms: number; last_seen_at_ms: number };

export type DeviceLinked = { device: Device };

export type DeviceUnlinked = { device_id: string };

export type DoNotDisturb = { quiet: boolean };

export type Draft = { channel_id: string; text: string; attachments: string[]; changed_at_ms: number };

export type DraftDeleted = { channel_id: string };

export type Edit = { text: string; replaced_at_ms: number };

export type Edits = { edits: Edit[] };

export type Emoji = { id: string; name: string; url: string; animated: boolean; created_by: string | null; created_at_ms: number };

export type EmojiDeleted = { emoji_id: string };

export type FollowedThread = { channel_id: string; thread: string; following: boolean; read_up_to: string | null; last: string | null; unread: number; mentions: number; root: Message | null };

export type FollowedThreads = { threads: FollowedThread[]; more: boolean };

export type FoundMessage = { id: string; channel_id: string; author_id: string; display_name: string; text: string; found: number[][]; posted_at_ms: number };

export type FoundMessages = { messages: Message[]; more: boolean };

export type Greeting = { seq: number; token_expires_at_ms: number; blocked: string[]; channels: Channel[]; emoji: Emoji[]; notifications: Notifications[]; quiet: boolean; invisible: boolean; member: Member; permissions: MemberPermissions; roles: Role[]; unread: Unread[]; online: string[]; idle: string[]; do_not_disturb: string[]; threads: ThreadState[]; settings: VisibleSettings; icon_url: string | null; voice: { [name: string]: VoiceMember[] } };

export type Hand = { hand: number };

export type Health = { status: "degraded" | "healthy"; service: "chat"; serverName: string; timestamp: string };

export type Hello = { server_id: string; heartbeat_ms: number; authenticate_within_ms: number; limits: SocketLimits };

export type IceServer = { credential?: string; urls: string[]; username?: string };

export type IconChanged = { icon_url: string | null };

export type IdToken = { id_token: string };

export type Info = { serverId: string; name: string; description: string; members: number; lanOpen: boolean; identityTiers: ("account" | "local")[]; signIn: SignIn; joinPolicy: "invite" | "open"; iconUrl: string | null; rules: string; rulesVersion: string; instanceId?: string; version?: string };

export type Invisible = { invisible: boolean };

export type Invitation = { invite_id: string; invited_by: string | null };

export type Invite = { id: string; code: string; created_by: string | null; role_id: string; created_at_ms: number; expires_at_ms: number | null; max_uses: number | null; uses: number; channel_id: string | null; approval: boolean };

export type InviteView = { founder: boolean; members: number; online: number; approval: boolean; expires_at_ms: number | null };

export type JobStatus = { id: string; kind: "picture" | "video" | "file" | "avatar" | "icon" | "emoji"; attempt: number; state: "dead" | "waiting" | "working"; worker: string; fault: string; due_at_ms: number; created_at_ms: number };

export type KeysLow = { device_id: string; left: number };

export type KindUsage = { kind: string; objects: number; bytes: number };

export type LinkCode = { code: string; expires_at_ms: number };

export type LinkedAccount = { id: string; origin: string; own: string; other: string; made_at_ms: number };

export type Links = { links: LinkedAccount[] };

export type Managed = { area: "backups" | "bans" | "bots" | "invites" | "overrides" };

export type ManagedWebhook = { id: string; name: string; channel_id: string | null; picture: string | null; created_by: string | null; created_at_ms: number; token: string | null; url: string | null };

export type ManagedWebhooks = { webhooks: ManagedWebhook[] };

export type Member = { id: string; nickname: string; roles: string[]; timeout_until_ms: number | null; joined_at_ms: number; avatar: string | null; status_text: string; bot: boolean };

export type MemberHistory = { nickname: string; joined_at_ms: number; left_at_ms: number | null; banned: boolean; invitation: Invitation | null; reports: ReportCounts; entries: AuditEntry[]; next: number | null };

export type MemberLeft = { member_id: string };

export type MemberPage = { members: Member[]; next: string | null; last_seen?: { [name: string]: number } };

export type MemberPermissions = { server: Permissions; channels: { [name: string]: Permissions } };

export type MemberUsage = { member_id: string; nickname: string; bytes: number };

export type Message = { id: string; channel_id: string; author: Author; text: string; reply_to: string | null; mentions: string[]; mention_groups: string[]; cards: MessageCard[]; fallback: string | null; attachments: Attachment[]; flagged: boolean; posted_at_ms: number; edited_at_ms: number | null; reactions: Reaction[]; pinned: boolean; previews: Preview[]; thread: string | null; answers: ThreadSummary | null; expired_attachments?: number };

export type MessageCard = { title?: string; url?: string; description?: string; color?: number; author?: CardAuthor; fields?: CardField[]; image?: StoredPicture; thumbnail?: StoredPicture; footer?: CardFooter; timestamp?: string };

export type MessageDeleted = { channel_id: string; id: string; thread: string | null };

export type MessageEdited = { channel_id: string; id: string; text: string; mentions: string[]; mention_groups: string[]; flagged: boolean; edited_at_ms: number | null };

export type MessagePage = { messages: Message[]; more_before: boolean; more_after: boolean; thread?: ThreadState };

export type MessagePosted = { id: string; channel_id: string; author: Author; text: string; reply_to: string | null; mentions: string[]; mention_groups: string[]; cards: MessageCard[]; fallback: string | null; attachments: Attachment[]; flagged: boolean; posted_at_ms: number; edited_at_ms: number | null; reactions: Reaction[]; pinned: boolean; previews: Preview[]; thread: string | null; answers: ThreadSummary | null; expired_attachments?: number; nonce?: string };

export type Messages = { messages: Message[] };

export type MuteState = { muted: boolean; deafened: boolean; self_muted: boolean; self_deafened: boolean };

export type NamedProblem = { path: string; code: string };

export type NewToken = { token: string };

export type Newcomer = { id: string; nickname: string; came_at_ms: number };

export type Newcomers = { members: Newcomer[] };

export type Notifications = { channel_id: string | null; level: "all" | "mentions" | "nothing" | null; muted: boolean; muted_until_ms: number | null };

export type Override = { type: "role" | "member"; target_id: string; allow: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members")[]; deny: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members")[] };

export type OwnBlocks = { blocked: string[] };

export type OwnConversations = { conversations: PrivateConversation[] };

export type OwnCountsToken = { token: string | null };

export type OwnDevices = { devices: Device[]; kept_code_made_at_ms: number | null };

export type OwnDrafts = { drafts: Draft[] };

export type OwnEmoji = { emoji: Emoji[] };

export type PackageStock = { device: PrivateDevice | null; left: number; low_below: number };

export type PackagesLeft = { left: number };

export type Participation = { device_id: string };

export type Permissions = ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members" | "change_nickname" | "create_invites" | "manage_invites" | "manage_nicknames" | "timeout_members" | "kick_members" | "ban_members" | "view_reports" | "view_audit_log" | "manage_emoji" | "manage_channels" | "manage_roles" | "manage_bots" | "manage_automod")[];

export type PinsChanged = { channel_id: string; id: string; pinned: boolean };

export type PostedCard = { title?: unknown; url?: unknown; description?: unknown; color?: string | number | null; author?: unknown; fields?: unknown; image_url?: unknown; thumbnail_url?: unknown; footer?: unknown; timestamp?: unknown };

export type PostedField = { name: string; value: string; inline?: unknown };

export type PostedMessage = { text?: unknown; display_name?: unknown; avatar_url?: unknown; cards?: unknown };

export type PostedPayloadWarning = { path: string; code: string; message: string };

export type PostedProblem = { path: string; code: "required" | "wrong_type" | "too_long" | "too_many" | "invalid_url" | "invalid_color" | "invalid_timestamp" | "empty_card" | "total_too_long" | "invalid_format" | "invalid"; message: string; limit?: number };

export type PostedReceipt = { message_id: string; conversation_id: string; warnings: PostedPayloadWarning[] };

export type Presence = { member_id: string; online: boolean; idle: boolean; do_not_disturb: boolean };

export type Preview = { url: string; title?: string; description?: string; site?: string; image?: StoredPicture };

export type PreviewsChanged = { channel_id: string; id: string; previews: Preview[] };

export type PrivateCallDeclined = { conversation_id: string; member_id: string };

export type PrivateChanged = { conversation_id: string };

export type PrivateConversation = { id: string; between_two: boolean; members: string[]; epoch: number; seq: number; first_seq: number; created_at_ms: number; devices: PrivateLeaf[]; lacking: PrivateDevice[] };

export type PrivateDevice = { id: string; member_id: string; thumbprint: string };

export type PrivateEntry = { seq: number; epoch: number; kind: "commit" | "message"; sent_at_ms: number; body: string; tag: string | null };

export type PrivateGroup = { epoch: number; seq: number };

export type PrivateLeaf = { id: string; member_id: string; thumbprint: string; gone: boolean };

export type PrivateLog = { entries: PrivateEntry[]; epoch: number; seq: number; first_seq: number; since: number };

export type PrivateSent = { conversation_id: string; seq: number; epoch: number; kind: "commit" | "message" };

export type PrivateWelcome = { id: string; conversation_id: string; seq: number; welcome: string };

export type PrivateWelcomes = { welcomes: PrivateWelcome[] };

export type ProviderEndpoints = { issuer: string; authorization_endpoint: string; client_id: string };

export type PushState = { public_key: string; subscribed: boolean };

export type Reaction = { emoji: string; member_ids: string[] };

export type ReactionsChanged = { channel_id: string; id: string; emoji: string; member_id: string; added: boolean };

export type RecentPosts = { posts: Attempt[] };

export type RecoveryCode = { code: string; made_at_ms: number };

export type RecoveryCodeCreated = { made_at_ms: number };

export type Report = { id: string; text: string; created_at_ms: number; reporter_id: string | null; rule: string | null; member_id: string | null; webhook: ReportedWebhook | null; private: RevealedMessage | null; channel_id: string | null; message_id: string | null; resolved_at_ms: number | null; resolved_by: string | null; note: string };

export type ReportCounts = { open: number; resolved: number };

export type ReportFiled = { id: string };

export type ReportPage = { reports: Report[]; next: string | null };

export type ReportResolved = { report_id: string; resolved_by: string };

export type ReportedWebhook = { id: string; name: string };

export type Resumption = { seq: number; token_expires_at_ms: number; online: string[]; idle: string[]; do_not_disturb: string[] };

export type RevealedMessage = { conversation_id: string; sent_at_ms: number; text: string; files: string[] };

export type Role = { id: string; name: string; rank: number; permissions: Permissions; color: number | null; built_in: boolean };

export type RoleDeleted = { role_id: string };

export type Rule = { id: string; name: string; enabled: boolean; kind: "links" | "mentions" | "newcomers" | "repeats" | "words"; action: "block" | "censor" | "flag" | "timeout"; words: string[]; allowed: string[]; most: number; within_s: number; timeout_s: number; newcomer_s: number; except_roles: string[]; except_channels: string[]; created_by: string | null; created_at_ms: number; too_slow: boolean };

export type RuleDeleted = { rule_id: string };

export type RuleTest = { read: number; found: number; messages: FoundMessage[] };

export type Rules = { rules: Rule[] };

export type SealedFile = { file_id: string };

export type SentMedia = { camera: boolean; screen: boolean };

export type ServerCounts = { name: string; unread: number; mentions: number; picture: string | null };

export type ServerHealth = { versions: Versions; started_at_ms: number; checks: Check[]; connected: ConnectedMember[]; connected_members: number; in_calls: number };

export type Settings = { joinPolicy: "invite" | "open"; discoverable: boolean; lanOpen: boolean; profanityMode: "block" | "censor" | "flag" | "off"; linkPreviews: boolean; name: string; description: string; rules: string; welcomeChannelId: string | null; retentionDays: number };

export type SignIn = { open: boolean; local: boolean; account: Accounts | null; certificateIssuers: string[] };

export type SignedIn = { access_token: string; refresh_token: string; member: Member; channel_id: string | null; expires_in_ms: number };

export type SignedInUntil = { token_expires_at_ms: number };

export type SocketLimits = { max_message_bytes: number; request_burst: number; requests_per_s: number };

export type StorageUsage = { bytes: number; limit_bytes: number; limit_of_one_bytes: number; by_kind: KindUsage[]; by_member: MemberUsage[]; others_bytes: number; database_bytes: number; disk_free_bytes: number };

export type StoredFile = { key: string; url: string; content_type: string; bytes: number; width: number | null; height: number | null };

export type StoredPicture = { key: string; url: string; content_type: string; width: number; height: number; placeholder: string };

export type ThreadChanged = { channel_id: string; id: string; answers: ThreadSummary | null };

export type ThreadState = { channel_id: string; thread: string; following: boolean; read_up_to: string | null; last: string | null; unread: number; mentions: number };

export type ThreadSummary = { count: number; last_id: string; last_at_ms: number };

export type Tokens = { access_token: string; refresh_token: string; expires_in_ms: number };

export type Typing = { channel_id: string; member_id: string; thread: string | null };

export type Unread = { channel_id: string; read_up_to: string; last: string | null; unread: number; mentions: number };

export type Upload = { id: string; purpose: "attachment" | "avatar" | "icon" | "emoji"; name: string; alt: string; length: number; received: number; state: "receiving" | "waiting" | "done" | "refused" | "used"; result: UploadResult | null; refusal: UploadRefusal | null; created_at_ms: number };

export type UploadProgress = { upload_id: string; state: "waiting" | "working"; progress: number };

export type UploadRefusal = { code: string; message: string };

export type UploadRefused = { upload_id: string; code: string; message: string };

export type UploadResult = { key: string; url: string; content_type: string; bytes: number; width: number | null; height: number | null; id: string; name: string; kind: "picture" | "video" | "audio" | "file"; frames: number | null; duration_ms: number | null; placeholder: string; colour: string; thumbnail: StoredFile | null; poster: StoredFile | null };

export type Uploads = { uploads: Upload[] };

export type VerifiedStatement = { account: ConfirmedAccount | null };

export type Versions = { server: string; python: string; sqlite: string };

export type VisibleSettings = { description: string; joinPolicy: "invite" | "open"; lanOpen: boolean; name: string; rules: string; discoverable?: boolean; linkPreviews?: boolean; profanityMode?: "block" | "censor" | "flag" | "off"; retentionDays?: number; welcomeChannelId?: string | null };

export type VoiceGrant = { urls: string[]; stun_servers: string[]; ice_servers: IceServer[]; bitrate_kbps: number; client_join: ClientJoin };

export type VoiceJoined = { channel_id: string; member: VoiceMember };

export type VoiceLeft = { channel_id: string; member_id: string; lost?: boolean };

export type VoiceMember = { id: string; nickname: string; muted: boolean; deafened: boolean; self_muted: boolean; self_deafened: boolean; hand: number; camera: boolean; screen: boolean; may_speak: boolean };

export type VoiceMoved = { from_channel_id: string; channel_id: string };

export type VoiceReacted = { channel_id: string; member_id: string; emoji: string };

export type VoiceScreenStopped = { channel_id: string };

export type VoiceSpeaking = { channel_id: string; member_ids: string[] };

export type VoiceState = { channel_id: string; members: VoiceMember[] };

export type VoiceUpdated = { channel_id: string; member_id: string; muted?: boolean; deafened?: boolean; self_muted?: boolean; self_deafened?: boolean; hand?: number; camera?: boolean; screen?: boolean; may_speak?: boolean };

export type WebhookDeleted = { webhook_id: string };

export type WebhookInfo = { id: string; name: string; channel_id: string | null; picture: string | null; created_by: string | null; created_at_ms: number };

/** The codes of errors. */
export type Code = "already_resolved" | "approval_pending" | "approval_refused" | "auth_required" | "banned" | "body_too_large" | "challenge_invalid" | "channel_archived" | "channel_full" | "channel_in_use" | "code_invalid" | "devices_changed" | "emoji_name_taken" | "empty_message" | "epoch_passed" | "export_running" | "forbidden" | "identity_taken" | "identity_tier_refused" | "in_timeout" | "internal_error" | "invalid_emoji" | "invalid_emoji_name" | "invalid_image" | "invalid_json" | "invalid_nickname" | "invalid_payload" | "invalid_query" | "invalid_request" | "invalid_settings" | "invite_busy" | "invite_invalid" | "invite_required" | "issuer_unavailable" | "joins_disabled" | "last_device" | "lease_lost" | "link_invalid" | "media_address_invalid" | "media_address_over" | "media_gone" | "message_too_long" | "method_not_allowed" | "nickname_taken" | "no_channel" | "no_device" | "not_found" | "not_in_voice" | "not_proved" | "offset_mismatch" | "origin_refused" | "owner_must_stay" | "private_refused" | "profanity_refused" | "proof_invalid" | "quota_exceeded" | "range_not_satisfiable" | "rank_too_low" | "rate_limited" | "refresh_invalid" | "rule_refused" | "rules_not_accepted" | "sealing_differs" | "search_busy" | "search_running" | "search_too_long" | "server_full" | "server_stopping" | "slow_mode" | "storage_full" | "storage_unavailable" | "token_invalid" | "too_many" | "too_many_blocks" | "too_many_connections" | "too_many_devices" | "too_many_invite_attempts" | "too_many_requests" | "too_many_waiting" | "too_slow" | "tus_version" | "unknown_application" | "unknown_backup" | "unknown_ban" | "unknown_channel" | "unknown_conversation" | "unknown_device" | "unknown_emoji" | "unknown_event" | "unknown_file" | "unknown_invite" | "unknown_job" | "unknown_linked_account" | "unknown_member" | "unknown_message" | "unknown_report" | "unknown_role" | "unknown_rule" | "unknown_upload" | "unknown_webhook" | "unsupported_encoding" | "unsupported_type" | "upload_busy" | "upload_complete" | "upload_cut_short" | "upload_not_done" | "upload_too_large" | "uploads_disabled" | "voice_full" | "voice_unavailable" | "wrong_content_type";

/** By method and path; `{}` stands for an id. */
export interface Endpoints {
  /** Leave the server */
  "POST /api/me/leave": { response: null };
  /** Leave the server and delete your name, your devices and all your messages. The messages are deleted in the background */
  "DELETE /api/me": { response: null };
  /** List the members whom you have blocked */
  "GET /api/me/blocks": { response: OwnBlocks };
  /** Block a member */
  "PUT /api/me/blocks/{}": { response: null };
  /** Unblock a member */
  "DELETE /api/me/blocks/{}": { response: null };
  /** Export all of your data as one JSON document */
  "GET /api/me/export": { response: AccountExport };
  /** List administrative actions, newest first. Actions in channels that you cannot view are left out */
  "GET /api/audit": { query: { before?: number; actor_id?: string; target_id?: string; action?: string; limit?: number }; response: AuditPage };
  /** List the moderation rules for messages, oldest first */
  "GET /api/automod/rules": { response: Rules };
  /** Create a rule, disabled by default. A server has at most 20. An enabled rule with the action `timeout` also needs `timeout_members` */
  "POST /api/automod/rules": { body: { name: string; kind: "links" | "mentions" | "newcomers" | "repeats" | "words"; action: "block" | "censor" | "flag" | "timeout"; enabled?: boolean | null; words?: string[] | null; allowed?: string[] | null; most?: number | null; within_s?: number | null; timeout_s?: number | null; newcomer_s?: number | null; except_roles?: string[] | null; except_channels?: string[] | null }; response: Rule };
  /** Replace a rule. Needs the same permissions as creating it */
  "PUT /api/automod/rules/{}": { body: { name: string; kind: "links" | "mentions" | "newcomers" | "repeats" | "words"; action: "block" | "censor" | "flag" | "timeout"; enabled?: boolean | null; words?: string[] | null; allowed?: string[] | null; most?: number | null; within_s?: number | null; timeout_s?: number | null; newcomer_s?: number | null; except_roles?: string[] | null; except_channels?: string[] | null }; response: Rule };
  /** Delete a rule */
  "DELETE /api/automod/rules/{}": { response: null };
  /** Test a rule on the last 1,000 messages of members, with their present roles. Changes nothing. Returns up to 50 matches in channels that you can view */
  "POST /api/automod/trial": { body: { name: string; kind: "links" | "mentions" | "newcomers" | "repeats" | "words"; action: "block" | "censor" | "flag" | "timeout"; enabled?: boolean | null; words?: string[] | null; allowed?: string[] | null; most?: number | null; within_s?: number | null; timeout_s?: number | null; newcomer_s?: number | null; except_roles?: string[] | null; except_channels?: string[] | null }; response: RuleTest };
  /** List all backups, and the one in progress */
  "GET /api/backups": { response: AllBackups };
  /** Start a backup. At most 5 are kept. The event `backup_finished` reports the end */
  "POST /api/backups": { response: AllBackups };
  /** Download a backup, which contains every secret of the server */
  "GET /api/backups/{}": { response: Blob };
  /** Delete a backup */
  "DELETE /api/backups/{}": { response: null };
  /** Create a URL that downloads a backup once, within a minute */
  "POST /api/backups/{}/link": { response: BackupLink };
  /** Download a backup with a URL made for it */
  "GET /api/backup-links/{}": { response: Blob };
  /** List the server's bots */
  "GET /api/bots": { response: AllBots };
  /** Create a bot. A server has at most 50. Only this response contains the token */
  "POST /api/bots": { body: { nickname: string }; response: CreatedBot };
  /** Replace the token of a bot that has a lower rank and no permission that you lack. The old token stops working, and its live sockets and calls end */
  "POST /api/bots/{}/token": { response: NewToken };
  /** Delete a bot that has a lower rank and no permission that you lack. Its messages stay */
  "DELETE /api/bots/{}": { response: null };
  /** List the channels that you can view, in order. `archived` includes archived channels */
  "GET /api/channels": { query: { archived?: boolean }; response: AllChannels };
  /** Create a channel at the end of the list, with initial overrides */
  "POST /api/channels": { body: { name: string; type: "category" | "text" | "voice"; parent_id?: string | null; topic?: string | null; slow_mode_s?: number | null; user_limit?: number | null; bitrate_kbps?: number | null; encrypted?: boolean | null; overrides?: ({ allow?: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members")[] | null; deny?: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members")[] | null; type: "member" | "role"; target_id: string })[] | null }; response: Channel };
  /** Reorder the channels that you can view. List each once; archived ones may be omitted. `parents` moves channels to other categories in the same write */
  "PUT /api/channels/order": { body: { channel_ids: string[]; parents?: { [name: string]: string | null } | null }; response: AllChannels };
  /** Get a channel */
  "GET /api/channels/{}": { response: Channel };
  /** Change a channel */
  "PATCH /api/channels/{}": { body: { name?: string | null; archived?: boolean | null; parent_id?: string | null; topic?: string | null; slow_mode_s?: number | null; user_limit?: number | null; bitrate_kbps?: number | null; encrypted?: boolean | null }; response: Channel };
  /** Delete a channel and everything in it */
  "DELETE /api/channels/{}": { response: null };
  /** List the permission overrides of a channel */
  "GET /api/channels/{}/overrides": { response: AllOverrides };
  /** Override a role's or a member's permissions in a channel */
  "PUT /api/channels/{}/overrides/{}/{}": { body: { allow?: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members")[] | null; deny?: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members")[] | null }; response: Override };
  /** Remove an override */
  "DELETE /api/channels/{}/overrides/{}/{}": { response: null };
  /** Report whether this device is registered, and how many of its key packages are left */
  "GET /api/private/device": { response: PackageStock };
  /** Register this device, with a statement of its key about its MLS signature key */
  "PUT /api/private/device": { body: { statement: string }; response: Participation };
  /** Publish key packages, each handed out once, and a last-resort package */
  "POST /api/private/key-packages": { body: { key_packages?: string[] | null; last_resort?: string | null }; response: PackagesLeft };
  /** List this device's pending Welcomes, about 1 MiB at a time. Repeat until the list is empty. With `channel_id` the Welcomes are those of an encrypted channel's call, otherwise those of conversations */
  "GET /api/private/welcomes": { query: { channel_id?: string }; response: PrivateWelcomes };
  /** Confirm that this device has joined with a Welcome */
  "DELETE /api/private/welcomes/{}": { response: null };
  /** List your conversations, with the devices in each group and the missing devices */
  "GET /api/private/conversations": { response: OwnConversations };
  /** Open a conversation. Two people have only one */
  "POST /api/private/conversations": { body: { members: string[] }; response: PrivateConversation };
  /** Get a conversation */
  "GET /api/private/conversations/{}": { response: PrivateConversation };
  /** Add a person to a group */
  "PUT /api/private/conversations/{}/members/{}": { response: null };
  /** Remove a person from a group */
  "DELETE /api/private/conversations/{}/members/{}": { response: null };
  /** Leave a group */
  "POST /api/private/conversations/{}/leave": { response: null };
  /** Report that this device has lost the group's keys. Other devices add it again */
  "POST /api/private/conversations/{}/lost": { response: null };
  /** Claim a key package of each of these devices, which must be missing from the group */
  "POST /api/private/conversations/{}/key-packages": { body: { devices: string[] }; response: ClaimedPackages };
  /** Commit and end the group's epoch. The first commit of an epoch wins */
  "POST /api/private/conversations/{}/commits": { body: { commit: string; welcome?: string | null; removed?: string[] | null; after?: number | null }; response: PrivateGroup };
  /** Send an encrypted message. Sending the same bytes again changes nothing */
  "POST /api/private/conversations/{}/messages": { body: { message: string; commitment: string; after?: number | null; ring?: boolean | null }; response: PrivateGroup };
  /** Return the log after an entry. Only for devices of the group */
  "GET /api/private/conversations/{}/log": { query: { after?: number; limit?: number }; response: PrivateLog };
  /** Report a message to moderators, revealing its content with proof. The report's `private` contains the revealed content */
  "POST /api/private/conversations/{}/reports": { body: { text: string; member_id: string; sent_at_ms: number; said: string; key: string; tag: string }; response: ReportFiled };
  /** Store an encrypted file of up to 32 MiB for the devices of the group. Needs a `Content-Length` */
  "POST /api/private/conversations/{}/files": { body: Blob; response: SealedFile };
  /** Download an encrypted file, whole or by `Range`. Only for devices of the group */
  "GET /api/private/conversations/{}/files/{}": { response: Blob };
  /** Delete an encrypted file that you sent */
  "DELETE /api/private/conversations/{}/files/{}": { response: null };
  /** List your drafts in channels that you can view */
  "GET /api/drafts": { response: OwnDrafts };
  /** Replace your draft in a channel. Its files are kept with it */
  "PUT /api/channels/{}/draft": { body: { text: string; attachments?: string[] | null }; response: Draft };
  /** Delete your draft in a channel */
  "DELETE /api/channels/{}/draft": { response: null };
  /** List all custom emoji */
  "GET /api/emoji": { response: OwnEmoji };
  /** Upload a custom emoji as multipart or with tus. The event `emoji_created` follows */
  "POST /api/emoji": { query: { name?: string }; body: Blob; response: Upload };
  /** Rename a custom emoji */
  "PATCH /api/emoji/{}": { body: { name: string }; response: Emoji };
  /** Delete a custom emoji. Messages then show its name */
  "DELETE /api/emoji/{}": { response: null };
  /** List your valid invites. With `manage_invites`, also those of others whose role you could give */
  "GET /api/invites": { response: AllInvites };
  /** Create an invite, optionally with a role below your rank. New members first see `channel_id`. With `approval`, they wait until somebody approves them */
  "POST /api/invites": { body: { role_id?: string | null; max_uses?: number | null; lifetime_s?: number | null; channel_id?: string | null; approval?: boolean | null }; response: Invite };
  /** Preview an invite before joining. `SERVER_INVITE_MAX_RETRIES` limits wrong codes per address */
  "POST /api/invites/view": { body: { code: string }; response: InviteView };
  /** Revoke an invite that you can see */
  "DELETE /api/invites/{}": { response: null };
  /** List present members who joined with an invite that you can see */
  "GET /api/invites/{}/members": { response: Newcomers };
  /** List pending, or recently approved or refused, applications, oldest first */
  "GET /api/applications": { query: { state?: "approved" | "pending" | "refused"; after?: string; limit?: number }; response: ApplicationPage };
  /** Approve a pending or refused application for a role that you could give */
  "POST /api/applications/{}/approve": { response: null };
  /** Refuse an application with a reason for the applicant */
  "POST /api/applications/{}/refuse": { body: { reason?: string | null }; response: null };
  /** Create a nonce for one sign-in within five minutes */
  "POST /api/auth/challenge": { response: Challenge };
  /** Return the provider's address for signing in with an account */
  "GET /api/auth/provider": { response: ProviderEndpoints };
  /** Exchange the provider's authorization code for an id_token */
  "POST /api/auth/exchange": { body: { code: string; code_verifier: string; redirect_uri: string }; response: IdToken };
  /** Sign in or join with a certificate or an id_token, and an assertion */
  "POST /api/auth/join": { body: { certificate?: string | null; id_token?: string | null; nickname?: string | null; invite_code?: string | null; link_code?: string | null; recovery_code?: string | null; device_name?: string | null; message?: string | null; rules_accepted?: string | null; assertion: string }; response: SignedIn };
  /** Get fresh tokens. Uses up the refresh token */
  "POST /api/auth/refresh": { body: { refresh_token?: string | null }; response: Tokens };
  /** Sign out: end the session's access tokens, live sockets and call. Ignores an invalid token */
  "POST /api/auth/logout": { body: { refresh_token?: string | null }; response: null };
  /** List your devices */
  "GET /api/me/devices": { response: OwnDevices };
  /** Create a code that signs in another device once, within ten minutes. It expires early when you sign out or unlink a device */
  "POST /api/me/devices/link": { response: LinkCode };
  /** Create a recovery code. It signs you in once after the loss of all devices, and unlinks them. It expires when you create another, leave, are removed, or unlink a device, and when a session is stolen */
  "POST /api/me/devices/recovery": { response: RecoveryCode };
  /** Unlink a device. All others sign in again with their refresh tokens */
  "DELETE /api/me/devices/{}": { response: null };
  /** Create a code for a member who lost all devices. It works once, within a day and under the same owner, and unlinks the member's devices */
  "POST /api/members/{}/recovery": { response: LinkCode };
  /** List your notification levels */
  "GET /api/me/notifications": { response: AllNotifications };
  /** Set the notification level of all channels, or mute them */
  "PUT /api/me/notifications": { body: { level?: "all" | "mentions" | "nothing" | null; muted?: boolean | null; mute_for_s?: number | null }; response: Notifications };
  /** Set the notification level of a channel, or mute it */
  "PUT /api/channels/{}/notifications": { body: { level?: "all" | "mentions" | "nothing" | null; muted?: boolean | null; mute_for_s?: number | null }; response: Notifications };
  /** Turn do-not-disturb on or off for all devices. Others can see it */
  "PUT /api/me/quiet": { body: { quiet: boolean }; response: DoNotDisturb };
  /** Turn invisibility on or off. Others see you offline, but typing, messages, reactions and calls still show you */
  "PUT /api/me/invisible": { body: { invisible: boolean }; response: Invisible };
  /** List the accounts on other servers that a member's profile shows */
  "GET /api/members/{}/linked-accounts": { response: Links };
  /** Show on your profile that you are the same person as a member of another server, with `change_nickname`. It replaces the link to the same server */
  "POST /api/me/linked-accounts": { body: { own: string; other: string }; response: LinkedAccount };
  /** Remove a linked account: your own, or with `manage_nicknames` that of a member of lower rank */
  "DELETE /api/members/{}/linked-accounts/{}": { response: null };
  /** List the confirmations that you gave for other servers */
  "GET /api/me/account-confirmations": { response: Confirmations };
  /** Confirm a statement that this device signed for another server, by its SHA-256 digest. Members who are on both servers can then verify it */
  "PUT /api/me/account-confirmations/{}": { response: null };
  /** Withdraw a confirmation */
  "DELETE /api/me/account-confirmations/{}": { response: null };
  /** Return who confirmed a statement, to a page with the counts token of a member. Pages of every origin may read the response */
  "POST /api/account-confirmations": { body: { token: string; digest: string }; response: VerifiedStatement };
  /** Report the storage used by purpose and by member, and by the database */
  "GET /api/storage": { query: { limit?: number }; response: StorageUsage };
  /** Download stored media, whole or by `Range` (RFC 9110). The `url` comes with each file, and expires */
  "GET /media/{}": { query: { ends?: string; signature?: string }; response: Blob };
  /** Download the server's icon */
  "GET /icon": { response: Blob };
  /** List members page by page, filtered and sorted */
  "GET /api/members": { query: { query?: string; ids?: string; role_id?: string; joined_after_ms?: number; joined_before_ms?: number; in_timeout?: boolean; bot?: boolean; seen_after_ms?: number; seen_before_ms?: number; sort?: "joined" | "-joined" | "name" | "-name" | "last_seen" | "-last_seen"; after?: string; limit?: number }; response: MemberPage };
  /** Get a member */
  "GET /api/members/{}": { response: Member };
  /** Change a nickname: your own with `change_nickname`, that of a member of lower rank with `manage_nicknames` */
  "PATCH /api/members/{}": { body: { nickname: string }; response: Member };
  /** Set your own status of up to 80 characters with `change_nickname`. With `manage_nicknames`, an empty text removes the status of a member of lower rank */
  "PUT /api/members/{}/status": { body: { text: string }; response: Member };
  /** Give a role to yourself or to a member of lower rank. The role must be below your rank and have no permission that you lack */
  "PUT /api/members/{}/roles/{}": { response: Member };
  /** Remove a role below your rank from yourself or from a member of lower rank */
  "DELETE /api/members/{}/roles/{}": { response: Member };
  /** Transfer the ownership. The former owner becomes an admin */
  "POST /api/members/{}/owner": { response: Member };
  /** Return your permissions on the server and in each channel */
  "GET /api/me/permissions": { response: MemberPermissions };
  /** List all roles, highest first */
  "GET /api/roles": { response: AllRoles };
  /** Create a role */
  "POST /api/roles": { body: { rank?: number | null; permissions?: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members" | "change_nickname" | "create_invites" | "manage_invites" | "manage_nicknames" | "timeout_members" | "kick_members" | "ban_members" | "view_reports" | "view_audit_log" | "manage_emoji" | "manage_channels" | "manage_roles" | "manage_bots" | "manage_automod")[] | null; color?: number | null; name: string }; response: Role };
  /** Change the ranks of several roles at once */
  "PUT /api/roles/order": { body: { ranks: { [name: string]: number } }; response: AllRoles };
  /** Change a role, except the owner's */
  "PATCH /api/roles/{}": { body: { name?: string | null; rank?: number | null; permissions?: ("view_channel" | "send_messages" | "attach_files" | "add_reactions" | "manage_messages" | "mention_everyone" | "manage_webhooks" | "join_voice" | "speak" | "share_video" | "share_screen" | "mute_members" | "move_members" | "change_nickname" | "create_invites" | "manage_invites" | "manage_nicknames" | "timeout_members" | "kick_members" | "ban_members" | "view_reports" | "view_audit_log" | "manage_emoji" | "manage_channels" | "manage_roles" | "manage_bots" | "manage_automod")[] | null; color?: number | null }; response: Role };
  /** Delete a role that is not built in */
  "DELETE /api/roles/{}": { response: null };
  /** List a page of messages, oldest first. Takes at most one of `before`, `after`, `around` and `at_ms`; without a cursor, the page is the newest */
  "GET /api/channels/{}/messages": { query: { before?: string; after?: string; around?: string; at_ms?: number; thread?: string; limit?: number }; response: MessagePage };
  /** Post a message. With `attach_files`, attach up to 10 of your finished uploads */
  "POST /api/channels/{}/messages": { body: { text?: string | null; nonce?: string | null; reply_to?: string | null; ping?: boolean | null; attachments?: string[] | null; thread?: string | null; previews?: boolean | null }; response: Message };
  /** Get a message */
  "GET /api/channels/{}/messages/{}": { response: Message };
  /** Edit your own message. New mentions in an edit notify nobody */
  "PATCH /api/channels/{}/messages/{}": { body: { text: string }; response: Message };
  /** Delete your own message or, with `manage_messages`, another member's */
  "DELETE /api/channels/{}/messages/{}": { response: null };
  /** List the last 50 earlier versions of a message, oldest first. For its author, and with `manage_messages` */
  "GET /api/channels/{}/messages/{}/edits": { response: Edits };
  /** React with an emoji or a `:name:`. A message has at most 20 different reactions. Idempotent */
  "PUT /api/channels/{}/messages/{}/reactions/{}": { response: null };
  /** Remove your reaction */
  "DELETE /api/channels/{}/messages/{}/reactions/{}": { response: null };
  /** Remove the link previews of your own message or, with `manage_messages`, of another member's. The message gets no new ones */
  "DELETE /api/channels/{}/messages/{}/previews": { response: null };
  /** List pinned messages, most recently pinned first */
  "GET /api/channels/{}/pins": { response: Messages };
  /** Pin a message. A channel has at most 50 pins */
  "PUT /api/channels/{}/pins/{}": { response: null };
  /** Unpin a message */
  "DELETE /api/channels/{}/pins/{}": { response: null };
  /** Report that you are typing */
  "POST /api/channels/{}/typing": { response: null };
  /** Mark everything up to a message of a channel or thread as read. With `back`, in a channel, mark the message and everything after it as unread */
  "POST /api/channels/{}/read": { body: { message_id: string; thread?: string | null; back?: boolean | null }; response: Unread | ThreadState };
  /** Search messages by words and filters in channels that you can view, newest first */
  "GET /api/search": { query: { query?: string; before?: string; limit?: number }; response: FoundMessages };
  /** List messages that mention you by name, by a role, by `here` or by `everyone`, and replies that notify you, newest first */
  "GET /api/me/mentions": { query: { before?: string; limit?: number }; response: FoundMessages };
  /** List the threads that you follow, the one with the newest message first. `root` is null if the root was deleted */
  "GET /api/me/threads": { query: { before?: string; limit?: number }; response: FollowedThreads };
  /** Follow a thread from its last message on */
  "PUT /api/channels/{}/messages/{}/follow": { response: ThreadState };
  /** Unfollow a thread, until you write or are mentioned there again */
  "DELETE /api/channels/{}/messages/{}/follow": { response: ThreadState };
  /** Kick a member of lower rank. They may rejoin with an invite */
  "POST /api/members/{}/kick": { body: { reason?: string | null }; response: null };
  /** Give a member of lower rank a timeout, during which they can only read */
  "PUT /api/members/{}/timeout": { body: { reason?: string | null; duration_s: number }; response: Member };
  /** End a timeout */
  "DELETE /api/members/{}/timeout": { response: Member };
  /** List bans page by page */
  "GET /api/bans": { query: { after?: string; limit?: number }; response: Bans };
  /** Ban a member of lower rank, or a former member. They cannot rejoin, and see the reason. `delete_messages_s` also deletes their messages of that period */
  "PUT /api/bans/{}": { body: { reason?: string | null; delete_messages_s?: number | null }; response: null };
  /** Lift a ban. The reason goes to the audit log */
  "DELETE /api/bans/{}": { query: { reason?: string }; response: null };
  /** List the moderation history of a present or former member, newest first. Entries about a channel need permission to view it */
  "GET /api/members/{}/moderation": { query: { before?: number; limit?: number }; response: MemberHistory };
  /** List reports, newest first. Reports about messages need permission to view the channel */
  "GET /api/reports": { query: { state?: "open" | "resolved"; before?: string; limit?: number }; response: ReportPage };
  /** Report a member, or a message in a channel. You can have at most 20 open reports */
  "POST /api/reports": { body: { text: string; member_id?: string | null; channel_id?: string | null; message_id?: string | null }; response: ReportFiled };
  /** Resolve a report */
  "POST /api/reports/{}/resolve": { body: { note?: string | null }; response: null };
  /** Show the reference for people: all endpoints, requests, events, objects and errors */
  "GET /reference": { response: Blob };
  /** Return this document */
  "GET /openapi.json": { response: { [name: string]: unknown } };
  /** Describe the management listener as OpenAPI */
  "GET /openapi/management.json": { response: { [name: string]: unknown } };
  /** Describe posts to webhooks as OpenAPI */
  "GET /openapi/webhooks.json": { response: { [name: string]: unknown } };
  /** Describe the live socket as AsyncAPI */
  "GET /asyncapi.json": { response: { [name: string]: unknown } };
  /** Return the key for subscribing, and whether this device is subscribed */
  "GET /api/me/push": { response: PushState };
  /** Subscribe this device with a browser's push subscription */
  "PUT /api/me/push": { body: { endpoint: string; keys: { p256dh: string; auth: string } }; response: null };
  /** Unsubscribe this device */
  "DELETE /api/me/push": { response: null };
  /** Return your counts token, with which another page shows your counts */
  "GET /api/me/counts-token": { response: OwnCountsToken };
  /** Create a counts token, which permits nothing but `POST /api/counts`. It replaces the previous one */
  "POST /api/me/counts-token": { response: OwnCountsToken };
  /** Revoke your counts token */
  "DELETE /api/me/counts-token": { response: null };
  /** Return how many unread messages and mentions the member of a counts token has, without muted channels. Pages of every origin may read the response */
  "POST /api/counts": { body: { token: string; picture?: boolean }; response: ServerCounts };
  /** Report whether the server is up and can store data */
  "GET /health": { response: Health };
  /** Return public facts about the server. Only members get `version`. `instanceId` needs `SERVER_INSTANCE_ID` */
  "GET /info": { response: Info };
  /** Report the health of the server and the connected members. `verdict` is `ok`, `notice` or `problem` */
  "GET /api/health": { response: ServerHealth };
  /** Return metrics for Prometheus */
  "GET /metrics": { response: Blob };
  /** Return all settings */
  "GET /api/settings": { response: Settings };
  /** Change some settings. If any value is invalid, nothing changes */
  "PATCH /api/settings": { body: { joinPolicy?: "invite" | "open"; discoverable?: boolean | "off" | "on"; lanOpen?: boolean | "off" | "on"; profanityMode?: "block" | "censor" | "flag" | "off"; linkPreviews?: boolean | "off" | "on"; name?: string | null; description?: string | null; rules?: string | null; welcomeChannelId?: string | null; retentionDays?: number | string }; response: Settings };
  /** Upload a file for a message as multipart, or with tus 1.0.0 if `Tus-Resumable` is set. Events report the outcome */
  "POST /api/channels/{}/uploads": { body: Blob; response: Upload };
  /** Upload your avatar as multipart, or with tus 1.0.0 if `Tus-Resumable` is set. Events report the outcome */
  "POST /api/me/avatar": { body: Blob; response: Upload };
  /** Remove your avatar */
  "DELETE /api/me/avatar": { response: null };
  /** Upload the server icon as multipart, or with tus 1.0.0 if `Tus-Resumable` is set. Events report the outcome */
  "POST /api/icon": { body: Blob; response: Upload };
  /** Remove the server icon */
  "DELETE /api/icon": { response: null };
  /** List your unattached uploads, newest first */
  "GET /api/uploads": { response: Uploads };
  /** Get one of your uploads. The headers `Upload-Offset` and `Upload-Length` answer the HEAD requests of tus */
  "GET /api/uploads/{}": { response: Upload };
  /** Continue an upload with tus from `Upload-Offset` on */
  "PATCH /api/uploads/{}": { body: Blob; response: null };
  /** Delete an unattached upload */
  "DELETE /api/uploads/{}": { response: null };
  /** Describe a file in words. With `send_messages`, this also changes the description of a file in your posted message */
  "PUT /api/uploads/{}/alt": { body: { alt: string }; response: Upload };
  /** List the jobs of the media worker, failed (`dead`) jobs first */
  "GET /api/jobs": { response: AllJobs };
  /** Retry a failed job */
  "POST /api/jobs/{}/retry": { response: null };
  /** Open the signalling WebSocket of an SFU, passed through by this server */
  "GET /sfu/client": { query: { service?: number }; response: null };
  /** List the webhooks that you may manage, oldest first */
  "GET /api/webhooks": { response: ManagedWebhooks };
  /** Create a webhook. Without a channel, this needs the permission on the server, and posts get `no_channel` until the webhook has one */
  "POST /api/webhooks": { body: { name: string; channel_id?: string | null }; response: ManagedWebhook };
  /** Get a webhook */
  "GET /api/webhooks/{}": { response: ManagedWebhook };
  /** Change the name or the channel of a webhook. Needs the permission in the new channel too. Null removes the channel */
  "PATCH /api/webhooks/{}": { body: { name?: string | null; channel_id?: string | null }; response: ManagedWebhook };
  /** Delete a webhook. Its URL returns 404 from then on. Its messages stay */
  "DELETE /api/webhooks/{}": { response: null };
  /** List the outcomes of the last 20 posts since the server started, newest first */
  "GET /api/webhooks/{}/posts": { response: RecentPosts };
  /** Change the picture of a webhook: PNG, JPEG, WebP or GIF, up to 8 MB. It is scaled down to 256 pixels a side */
  "PUT /api/webhooks/{}/picture": { body: Blob; response: ManagedWebhook };
  /** Remove the picture of a webhook */
  "DELETE /api/webhooks/{}/picture": { response: null };
  /** Post a message into the webhook's channel */
  "POST /api/webhooks/{}/{}": { body: PostedMessage; response: PostedReceipt };
  /** Post a message in the format of Discord's webhooks */
  "POST /api/webhooks/{}/{}/discord": { query: { wait?: string }; body: { content?: string | null; username?: string | null; avatar_url?: string | null; embeds?: ({ title?: string | null; description?: string | null; url?: string | null; timestamp?: string | null; color?: number | null; footer?: { text?: string | null; icon_url?: string | null } | null; image?: { url?: string | null } | null; thumbnail?: { url?: string | null } | null; author?: { name?: string | null; url?: string | null; icon_url?: string | null } | null; fields?: ({ name?: string | null; value?: string | null; inline?: boolean | null })[] | null })[] | null }; response: { id: string; channel_id: string; content: string } };
  /** Post a message in the format of Slack's incoming webhooks */
  "POST /api/webhooks/{}/{}/slack": { body: { text?: string | null; username?: string | null; icon_url?: string | null; mrkdwn?: boolean | null; attachments?: ({ fallback?: string | null; color?: string | null; pretext?: string | null; title?: string | null; title_link?: string | null; text?: string | null; footer?: string | null; author_name?: string | null; author_link?: string | null; author_icon?: string | null; footer_icon?: string | null; image_url?: string | null; thumb_url?: string | null; fields?: ({ title?: string | null; value?: string | null; short?: boolean | null })[] | null; ts?: number | string | null })[] | null; blocks?: { type: string }[] | null }; response: Blob };
  /** Post an event from GitHub */
  "POST /api/webhooks/{}/{}/github": { body: { action?: string | null; repository?: { full_name?: string | null } | null; sender?: { login?: string | null } | null }; response: PostedReceipt };
}

/** On the live socket, by event. */
export interface Requests {
  private_send: { data: { message: string; commitment: string; after?: number | null; ring?: boolean | null; conversation_id: string }; reply: PrivateGroup };
  private_log: { data: { after?: number | null; limit?: number | null; conversation_id: string }; reply: PrivateLog };
  drafts: { data: { [name: string]: unknown }; reply: OwnDrafts };
  draft_put: { data: { text: string; attachments?: string[] | null; channel_id: string }; reply: Draft };
  draft_delete: { data: { channel_id: string }; reply: Record<string, never> };
  notifications_set: { data: { level?: "all" | "mentions" | "nothing" | null; muted?: boolean | null; mute_for_s?: number | null; channel_id?: string | null }; reply: Notifications };
  quiet_set: { data: { quiet: boolean }; reply: DoNotDisturb };
  invisible_set: { data: { invisible: boolean }; reply: Invisible };
  ping: { data: { [name: string]: unknown }; reply: Record<string, never> };
  in_sight: { data: { visible: boolean }; reply: Record<string, never> };
  idle: { data: { idle: boolean }; reply: Record<string, never> };
  reauthenticate: { data: { access_token: string }; reply: SignedInUntil };
  history: { data: { before?: string | null; after?: string | null; around?: string | null; at_ms?: number | null; thread?: string | null; limit?: number | null; channel_id: string }; reply: MessagePage };
  message_send: { data: { text?: string | null; nonce?: string | null; reply_to?: string | null; ping?: boolean | null; attachments?: string[] | null; thread?: string | null; previews?: boolean | null; channel_id: string }; reply: Message };
  message_edit: { data: { text: string; channel_id: string; message_id: string }; reply: Message };
  message_delete: { data: { channel_id: string; message_id: string }; reply: Record<string, never> };
  message_edits: { data: { channel_id: string; message_id: string }; reply: Edits };
  reaction_add: { data: { channel_id: string; message_id: string; emoji: string }; reply: Record<string, never> };
  reaction_remove: { data: { channel_id: string; message_id: string; emoji: string }; reply: Record<string, never> };
  previews_remove: { data: { channel_id: string; message_id: string }; reply: Record<string, never> };
  pins: { data: { channel_id: string }; reply: Messages };
  pin_add: { data: { channel_id: string; message_id: string }; reply: Record<string, never> };
  pin_remove: { data: { channel_id: string; message_id: string }; reply: Record<string, never> };
  typing: { data: { channel_id: string; thread?: string | null }; reply: Record<string, never> };
  read: { data: { message_id: string; thread?: string | null; back?: boolean | null; channel_id: string }; reply: Unread | ThreadState };
  search: { data: { query: string; before?: string | null; limit?: number | null }; reply: FoundMessages };
  mentions: { data: { before?: string | null; limit?: number | null }; reply: FoundMessages };
  threads: { data: { before?: string | null; limit?: number | null }; reply: FollowedThreads };
  thread_follow: { data: { channel_id: string; message_id: string }; reply: ThreadState };
  thread_unfollow: { data: { channel_id: string; message_id: string }; reply: ThreadState };
  settings_get: { data: { [name: string]: unknown }; reply: Settings };
  settings_change: { data: { joinPolicy?: "invite" | "open"; discoverable?: boolean | "off" | "on"; lanOpen?: boolean | "off" | "on"; profanityMode?: "block" | "censor" | "flag" | "off"; linkPreviews?: boolean | "off" | "on"; name?: string | null; description?: string | null; rules?: string | null; welcomeChannelId?: string | null; retentionDays?: number | string }; reply: Settings };
  voice_join: { data: { sealed?: boolean; channel_id: string }; reply: VoiceGrant };
  private_call_decline: { data: { conversation_id: string }; reply: Record<string, never> };
  voice_mute_self: { data: { muted?: boolean | null; deafened?: boolean | null }; reply: MuteState };
  voice_mute: { data: { muted?: boolean | null; deafened?: boolean | null; member_id: string }; reply: MuteState };
  voice_hand: { data: { channel_id: string; raised: boolean }; reply: Hand };
  voice_lower_hand: { data: { member_id: string; channel_id: string }; reply: Record<string, never> };
  voice_send: { data: { channel_id: string; camera: boolean; screen: boolean }; reply: SentMedia };
  voice_react: { data: { channel_id: string; emoji: string }; reply: Record<string, never> };
  voice_stop_screen: { data: { member_id: string }; reply: Record<string, never> };
  voice_disconnect: { data: { member_id: string }; reply: Record<string, never> };
  voice_move: { data: { member_id: string; channel_id: string }; reply: Record<string, never> };
}

/** Events that the server pushes, by name. */
export interface Pushes {
  member_blocked: Block;
  member_unblocked: Block;
  rule_created: Rule;
  rule_updated: Rule;
  rule_deleted: RuleDeleted;
  backup_finished: BackupFinished;
  channel_created: Channel;
  channel_updated: Channel;
  channel_deleted: ChannelDeleted;
  private_sent: PrivateSent;
  private_changed: PrivateChanged;
  private_keys_low: KeysLow;
  draft_changed: Draft;
  draft_deleted: DraftDeleted;
  emoji_created: Emoji;
  emoji_updated: Emoji;
  emoji_deleted: EmojiDeleted;
  application_created: Application;
  application_decided: Decision;
  device_linked: DeviceLinked;
  device_unlinked: DeviceUnlinked;
  recovery_code_made: RecoveryCodeCreated;
  notifications_changed: Notifications;
  quiet_changed: DoNotDisturb;
  invisible_changed: Invisible;
  hello: Hello;
  managed: Managed;
  member_joined: Member;
  member_updated: Member;
  member_left: MemberLeft;
  role_created: Role;
  role_updated: Role;
  role_deleted: RoleDeleted;
  permissions_changed: Record<string, never>;
  message_posted: MessagePosted;
  message_edited: MessageEdited;
  attachments_changed: AttachmentsChanged;
  previews_changed: PreviewsChanged;
  message_deleted: MessageDeleted;
  thread_changed: ThreadChanged;
  thread_state: ThreadState;
  reactions_changed: ReactionsChanged;
  pins_changed: PinsChanged;
  unread: Unread;
  typing: Typing;
  presence: Presence;
  report_created: Report;
  report_resolved: ReportResolved;
  settings_changed: ChangedSettings;
  upload_progress: UploadProgress;
  upload_done: Upload;
  upload_refused: UploadRefused;
  icon_changed: IconChanged;
  voice_joined: VoiceJoined;
  voice_left: VoiceLeft;
  voice_updated: VoiceUpdated;
  voice_reacted: VoiceReacted;
  voice_speaking: VoiceSpeaking;
  voice_screen_stopped: VoiceScreenStopped;
  private_call_declined: PrivateCallDeclined;
  voice_state: VoiceState;
  voice_moved: VoiceMoved;
  webhook_created: WebhookInfo;
  webhook_updated: WebhookInfo;
  webhook_deleted: WebhookDeleted;
}
