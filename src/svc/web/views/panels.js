// The side panels and dialogs, by the names of state/navigation.js. Each loads on first use.

import { Later } from "./parts/later.js";

/** @type {{[name: string]: ReturnType<typeof Later> | undefined}} */
export const ASIDES = {
  callText: Later(() => import("./call/call_chat.js"), "CallChat"),
  inbox: Later(() => import("./conversation/inbox.js"), "Inbox"),
  members: Later(() => import("./people/members.js"), "Members"),
  pins: Later(() => import("./conversation/pins.js"), "Pins"),
  quality: Later(() => import("./call/quality_panel.js"), "QualityPanel"),
  thread: Later(() => import("./conversation/thread.js"), "Thread"),
  threads: Later(() => import("./conversation/threads.js"), "Threads"),
  search: Later(() => import("./conversation/search.js"), "Search"),
};

/** @type {{[name: string]: ReturnType<typeof Later> | undefined}} */
export const DIALOGS = {
  about: Later(() => import("./conversation/channel_info.js"), "About"),
  "call-encrypted": Later(() => import("./call/encryption.js"), "SealedDialog"),
  channel: Later(() => import("./admin/channel_settings.js"), "ChannelSettings"),
  "create-channel": Later(() => import("./admin/create_channel.js"), "CreateChannel"),
  "delete-channel": Later(() => import("./admin/channel_settings.js"), "DeleteChannel"),
  callPerson: Later(() => import("./call/participant_dialog.js"), "CallPerson"),
  invite: Later(() => import("./admin/invite_dialog.js"), "InviteDialog"),
  join: Later(() => import("./call/join_dialog.js"), "JoinDialog"),
  "member-roles": Later(() => import("./admin/member_roles.js"), "MemberRoles"),
  jump: Later(() => import("./conversation/jump.js"), "Jump"),
  lightbox: Later(() => import("./conversation/lightbox.js"), "Lightbox"),
  moderate: Later(() => import("./admin/moderate_dialog.js"), "Moderate"),
  "moderation-history": Later(() => import("./admin/history_dialog.js"), "ModerationHistory"),
  "private-earlier": Later(() => import("./private/history_transfer_dialog.js"), "EarlierDialog"),
  "private-group": Later(() => import("./private/group_dialog.js"), "GroupDialog"),
  "private-people": Later(() => import("./private/people_dialog.js"), "PeopleDialog"),
  "private-number": Later(() => import("./private/safety_number_dialog.js"), "NumberDialog"),
  "private-search": Later(() => import("./private/search_dialog.js"), "SearchDialog"),
  profile: Later(() => import("./people/profile.js"), "Profile"),
  reacted: Later(() => import("./conversation/message_dialogs.js"), "Reacted"),
  recovery: Later(() => import("./people/recovery.js"), "Recovery"),
  report: Later(() => import("./people/report.js"), "Report"),
  remove: Later(() => import("./conversation/message_dialogs.js"), "RemoveMessage"),
  screen: Later(() => import("./call/screen_dialog.js"), "ScreenDialog"),
  settings: Later(() => import("./settings/settings.js"), "Settings"),
  share: Later(() => import("./installation/share.js"), "Share"),
  shortcuts: Later(() => import("./settings/shortcut_sheet.js"), "Shortcuts"),
  "voice-message": Later(() => import("./composer/voice_message.js"), "VoiceMessage"),
  switcher: Later(() => import("./channels/switcher.js"), "Switcher"),
};
