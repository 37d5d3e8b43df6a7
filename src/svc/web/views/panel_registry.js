// Maps the names of side panels and dialogs in state/navigation.js to their components. Each component is
// loaded on first use.

import { Lazy } from "./parts/lazy_component.js";

/** @type {{[name: string]: ReturnType<typeof Lazy> | undefined}} */
export const ASIDES = {
  callText: Lazy(() => import("./call/call_chat.js"), "CallChat"),
  inbox: Lazy(() => import("./conversation/inbox.js"), "Inbox"),
  members: Lazy(() => import("./people/members.js"), "Members"),
  pins: Lazy(() => import("./conversation/pins.js"), "Pins"),
  quality: Lazy(() => import("./call/quality_panel.js"), "QualityPanel"),
  thread: Lazy(() => import("./conversation/thread.js"), "Thread"),
  threads: Lazy(() => import("./conversation/followed_threads.js"), "Threads"),
  search: Lazy(() => import("./conversation/search.js"), "Search"),
};

/** @type {{[name: string]: ReturnType<typeof Lazy> | undefined}} */
export const DIALOGS = {
  about: Lazy(() => import("./conversation/channel_info.js"), "About"),
  "call-encrypted": Lazy(() => import("./call/encryption.js"), "SealedDialog"),
  channel: Lazy(() => import("./admin/channel_settings.js"), "ChannelSettings"),
  "create-channel": Lazy(() => import("./admin/create_channel.js"), "CreateChannel"),
  "delete-channel": Lazy(() => import("./admin/channel_settings.js"), "DeleteChannel"),
  callPerson: Lazy(() => import("./call/participant_dialog.js"), "CallPerson"),
  invite: Lazy(() => import("./admin/invite_dialog.js"), "InviteDialog"),
  join: Lazy(() => import("./call/join_dialog.js"), "JoinDialog"),
  "member-roles": Lazy(() => import("./admin/member_roles.js"), "MemberRoles"),
  jump: Lazy(() => import("./conversation/jump_to_date.js"), "Jump"),
  "link-accounts": Lazy(() => import("./servers/link_dialog.js"), "LinkDialog"),
  lightbox: Lazy(() => import("./conversation/lightbox.js"), "Lightbox"),
  moderate: Lazy(() => import("./admin/moderate_dialog.js"), "Moderate"),
  "moderation-history": Lazy(() => import("./admin/moderation_history_dialog.js"), "ModerationHistory"),
  "private-earlier": Lazy(() => import("./private/history_transfer_dialog.js"), "EarlierDialog"),
  "private-group": Lazy(() => import("./private/group_dialog.js"), "GroupDialog"),
  "private-people": Lazy(() => import("./private/people_dialog.js"), "PeopleDialog"),
  "private-number": Lazy(() => import("./private/safety_number_dialog.js"), "NumberDialog"),
  "private-search": Lazy(() => import("./private/search_dialog.js"), "SearchDialog"),
  profile: Lazy(() => import("./people/profile.js"), "Profile"),
  reacted: Lazy(() => import("./conversation/message_dialogs.js"), "Reacted"),
  recovery: Lazy(() => import("./settings/recovery_code.js"), "Recovery"),
  report: Lazy(() => import("./people/report.js"), "Report"),
  remove: Lazy(() => import("./conversation/message_dialogs.js"), "RemoveMessage"),
  screen: Lazy(() => import("./call/screen_dialog.js"), "ScreenDialog"),
  settings: Lazy(() => import("./settings/settings.js"), "Settings"),
  share: Lazy(() => import("./installation/share.js"), "Share"),
  shortcuts: Lazy(() => import("./settings/shortcut_sheet.js"), "Shortcuts"),
  "voice-message": Lazy(() => import("./composer/voice_message.js"), "VoiceMessage"),
  switcher: Lazy(() => import("./channels/switcher.js"), "Switcher"),
};
