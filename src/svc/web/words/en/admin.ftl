# Administration: shared texts, channels and permissions.

show-more = Show more
type-its-name = Type “{ $name }” to continue
pick-hint = Role or person
pick-member-hint = Member
remove-target = Remove { $name }
role-gone = Deleted role
menu-of = More about { $name }
settings-of = { $name } settings
settings-channels = Channels
lasting-none = None
lasting-seconds = { $count ->
    [one] 1 second
   *[other] { $count } seconds
}
lasting-minutes = { $count ->
    [one] 1 minute
   *[other] { $count } minutes
}
lasting-hours = { $count ->
    [one] 1 hour
   *[other] { $count } hours
}
lasting-days = { $count ->
    [one] 1 day
   *[other] { $count } days
}

## Channels

channels-about = All channels, in the order of the sidebar.
channels-keys = Drag a channel to move it, or press Ctrl+Shift+Arrow on it.
create-channel = Create channel
create-text-channel = Create text channel
create-voice-channel = Create voice channel
create-channel-in = Create channel in { $name }
channel-kind = Type
channel-text = Text
channel-text-hint = Messages, pictures and files
channel-voice = Voice
channel-voice-hint = Talk, turn on cameras and share screens
channel-category = Category
channel-category-hint = A heading to group channels under
channel-name-missing = Enter a name.
channel-topic-hint = Describes the channel. Shown at the top.
no-category = No category
channel-private = Private
channel-private-hint = Only the owner and the roles and people you choose can see it.
channel-access-add = Add roles or people
channel-access = Roles and people with access
channel-access-empty = Nobody else yet.
channel-settings = Channel settings
channel-gone = This channel no longer exists.
channel-page-overview = Overview
channel-page-permissions = Permissions
slow-mode-hint = How long members wait between messages. Doesn’t apply to moderators.
user-limit-hint = How many people can be in the call. 0 means no limit.
user-limit-of = { $count } of { $limit } people
bitrate-usual = Automatic
kbps = { $kbps } kbit/s
encrypt-calls-hint = Only the people in a call can hear and see it: the server has no keys. Up to 25 people. You can change this only while the channel is empty.
channel-archive = Archive channel
channel-archive-text = Archived channels are hidden from the list. Their messages can still be searched, and you can restore them.
channel-archived = { $name } was archived.
archived-channels = Archived channels
bring-back = Restore
channel-delete = Delete
channel-delete-title = Delete { $name }?
channel-delete-text = All its messages are deleted too. This can’t be undone.
category-delete-text = Its channels stay, without a category.
edit-channel = Channel settings
edit-named = Edit { $name }
channel-permissions = Permissions
move-up = Move up
move-down = Move down
move-up-named = Move { $name } up
move-down-named = Move { $name } down
overrides = Channel permissions
overrides-about = By default, members have the permissions of their server roles. Here you can change them for this channel. “Allow” for any of a member’s roles wins over “Deny”, and an entry for a person wins over both.
overrides-add = Add a role or person
overrides-for = Roles and people with channel permissions
overrides-of = Permissions of { $name } in this channel
override-allow = Allow
override-deny = Deny
override-neutral = Inherit from roles
result-of-role = Viewing as someone with only the role { $name }. Each line ends with the result.
result-of-person = Viewing as { $name }, with all their roles. Each line ends with the result.
outcome-may = allowed
outcome-may-not = not allowed

## Permissions

permissions-text = Text
permissions-voice = Voice
permissions-members = Members
permissions-server = Server
permission-view-channel = View channel
permits-view-channel = Read its messages and see who is in its calls.
permission-send-messages = Send messages
permits-send-messages = Send messages, and edit their own.
permission-attach-files = Attach files
permits-attach-files = Send pictures, videos and other files.
permission-add-reactions = Add reactions
permits-add-reactions = React to messages with emoji.
permission-manage-messages = Manage messages
permits-manage-messages = Delete and pin messages from other people. Exempt from slow mode.
permission-mention-everyone = Mention everyone
permits-mention-everyone = Notify a whole role, everyone, or everyone online.
permission-manage-webhooks = Manage webhooks
permits-manage-webhooks = Create URLs that programs can use to post here.
permission-join-voice = Join calls
permits-join-voice = Join voice channels and listen.
permission-speak = Speak
permits-speak = Talk in calls.
permission-share-video = Share camera
permits-share-video = Turn on the camera in calls.
permission-share-screen = Share screen
permits-share-screen = Share a screen, window or tab in calls.
permission-mute-members = Mute members
permits-mute-members = Mute and deafen other people in calls.
permission-move-members = Move members
permits-move-members = Move other people to another call, or remove them from a call.
permission-change-nickname = Change own name
permits-change-nickname = Set their own name and status.
permission-create-invites = Create invites
permits-create-invites = Create links that people can join with.
permission-manage-invites = Manage invites
permits-manage-invites = View and revoke invites from other people.
permission-manage-nicknames = Rename members
permits-manage-nicknames = Change the names of members with a lower role.
permission-timeout-members = Time out members
permits-timeout-members = Make members with a lower role read-only for a while.
permission-kick-members = Kick members
permits-kick-members = Remove members with a lower role. They can rejoin with an invite.
permission-ban-members = Ban members
permits-ban-members = Permanently remove members with a lower role, and unban people.
permission-view-reports = View reports
permits-view-reports = View reports from members, and what moderators did.
permission-view-audit-log = View the audit log
permits-view-audit-log = See who changed what on this server.
permission-manage-emoji = Manage emoji
permits-manage-emoji = Upload, rename and delete the server’s emoji.
permission-manage-bots = Manage bots
permits-manage-bots = Create bots and their tokens, and delete bots with a lower role.
permission-manage-automod = Manage automatic moderation
permits-manage-automod = Create, test, change and delete the rules that check messages.
permission-manage-channels = Manage channels
permits-manage-channels = Create, change, reorder and delete channels.
permission-manage-roles = Manage roles
permits-manage-roles = Create, change, assign and remove roles below their own.
