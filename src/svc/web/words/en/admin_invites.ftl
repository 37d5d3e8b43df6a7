# Invites.

settings-invites = Invites
invite-people = Invite people
invite-others = Invite others
invite-lifetime = Expires after
invite-forever = Never expires
invite-uses = Number of uses
invite-for = { $count ->
    [one] 1 person
   *[other] { $count } people
}
invite-for-all = No limit
invite-role = Role for new members
invite-channel = Welcome channel
invite-any-channel = Default
invite-approval = Require approval
invite-approval-hint = New members wait until someone who manages invites approves them.
make-link = Create link
another-link = Create another link
share-link = Share
invite-link = Invite link
invite-copied = Link copied. Send it to anyone you want to invite.
invite-code-for-phones = QR code
copy-invite = Copy link
invites-all-about = All active invite links.
invites-own-about = Your active invite links. They stop working when you leave.
no-invites = There are no active invites.
invite-by = by { $name }
invite-by-operator = by the operator
invite-used = { $uses ->
    [0] not used yet
    [one] used once
   *[other] used { $uses } times
}
invite-used-of = used { $uses } of { $most } times
invite-with-approval = requires approval
invite-until = until
invite-joined-show = Show joined members
invite-joined = Joined with this link: { $names }
invite-joined-none = None of the people who joined with this link are still members.
revoke = Revoke
revoke-invite = Revoke { $code }
revoke-title = Revoke this link?
revoke-text = Nobody can join with it anymore. Members who joined with it stay.
applications = Requests to join
application-approve = Approve
application-refuse = Decline
