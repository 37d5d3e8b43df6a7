# Administration: shared texts, channels and permissions.

show-more = Show more
type-its-name = Type “{ $name }” to continue
pick-hint = Name of a role or a person
pick-member-hint = Name of a member
take-out = Remove { $name }
role-gone = A deleted role
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

channels-about = All channels, in the order of the list at the side.
channels-keys = Drag them there, or press Ctrl+Shift+Arrow on one.
create-channel = Create a channel
create-text-channel = Create a text channel
create-voice-channel = Create a voice channel
create-channel-in = Create a channel in { $name }
channel-kind = Kind
channel-text = Text
channel-text-hint = Messages, pictures and files
channel-voice = Voice
channel-voice-hint = Talk, with cameras and shared screens
channel-category = Category
channel-category-hint = A heading that channels are listed under
channel-name-missing = Please enter a name.
channel-topic-hint = What the channel is for. It is shown at the top.
no-category = No category
channel-private = Private
channel-private-hint = Only the roles and people that you choose see it. The owner always does.
let-in = Who sees it
those-let-in = Those who see it
nobody-let-in = Nobody else yet.
channel-settings = Channel settings
channel-gone = This channel no longer exists.
channel-page-overview = Overview
channel-page-permissions = Permissions
slow-mode-hint = How long each member waits before their next message. Moderators do not wait.
user-limit-hint = How many people fit in the call. 0 means no limit.
user-limit-of = { $count } of { $limit } seats are taken
bitrate-usual = Automatic
kbps = { $kbps } kbit/s
encrypt-calls-hint = Only the people in a call can hear and see it; the server has no key. Up to 25 people. You can change this while nobody is in the channel.
channel-archive = Archive the channel
channel-archive-text = An archived channel disappears from the list. It can still be searched, and you can bring it back.
channel-archived = { $name } is archived.
archived-channels = Archived channels
bring-back = Bring it back
channel-delete = Delete
channel-delete-title = Delete { $name }?
channel-delete-text = All messages in it are deleted too. This cannot be undone.
category-delete-text = Its channels stay, without a category.
edit-channel = Channel settings
edit-named = Edit { $name }
channel-permissions = Permissions
move-up = Move up
move-down = Move down
move-up-named = Move { $name } up
move-down-named = Move { $name } down
overrides = What roles and people may do here
overrides-about = Without an entry here, people can do what their roles allow on the server. If an entry allows one of their roles, they are allowed; an entry for the person decides last.
overrides-add = View as a role or a person
overrides-for = Roles and people with entries of their own
overrides-of = Permissions of { $name } in this channel
override-allow = Allow
override-deny = Deny
override-neutral = As their roles say
result-of-role = Viewed as somebody with only the role { $name }: each line ends with what they can do here.
result-of-person = Viewed as { $name }, with all their roles: each line ends with what they can do here.
outcome-may = may
outcome-may-not = may not

## Permissions

permissions-text = Text
permissions-voice = Voice
permissions-members = Members
permissions-server = Server
permission-view-channel = See the channel
permits-view-channel = Read its messages and see who talks there.
permission-send-messages = Send messages
permits-send-messages = Write, and edit one’s own messages.
permission-attach-files = Attach files
permits-attach-files = Send pictures, videos and other files.
permission-add-reactions = Add reactions
permits-add-reactions = Answer a message with an emoji.
permission-manage-messages = Manage messages
permits-manage-messages = Delete and pin other people’s messages, and write without waiting in slow mode.
permission-mention-everyone = Mention everyone
permits-mention-everyone = Notify a whole role, everyone, or everyone who is online.
permission-manage-webhooks = Manage webhooks
permits-manage-webhooks = Create URLs that programs use to post here.
permission-join-voice = Join calls
permits-join-voice = Enter voice channels and listen.
permission-speak = Speak
permits-speak = Be heard in calls.
permission-share-video = Share the camera
permits-share-video = Be seen in calls.
permission-share-screen = Share the screen
permits-share-screen = Show a screen, a window or a tab in calls.
permission-mute-members = Mute members
permits-mute-members = Mute and deafen others in calls.
permission-move-members = Move members
permits-move-members = Move others to another call, or end their call.
permission-change-nickname = Change one’s name
permits-change-nickname = Choose one’s own name and status.
permission-create-invites = Create invites
permits-create-invites = Create links that people join with.
permission-manage-invites = Manage invites
permits-manage-invites = See and revoke other people’s invites.
permission-manage-nicknames = Rename members
permits-manage-nicknames = Change the names of members with a lower role.
permission-timeout-members = Time members out
permits-timeout-members = Limit members with a lower role to reading for a while.
permission-kick-members = Kick members
permits-kick-members = Remove members with a lower role. They can come back with an invite.
permission-ban-members = Ban members
permits-ban-members = Remove members with a lower role for good, and lift bans.
permission-view-reports = View reports
permits-view-reports = Read what members report, and what moderators have done.
permission-view-audit-log = View the audit log
permits-view-audit-log = Read who changed what on this server.
permission-manage-emoji = Manage emoji
permits-manage-emoji = Upload, rename and delete the server’s emoji.
permission-manage-bots = Manage bots
permits-manage-bots = Create bots and their tokens, and delete bots below one’s own role.
permission-manage-automod = Manage automatic moderation
permits-manage-automod = Create, try, change and delete the rules that check messages.
permission-manage-channels = Manage channels
permits-manage-channels = Create, change, order and delete channels.
permission-manage-roles = Manage roles
permits-manage-roles = Create, change, give and take roles below one’s own.
