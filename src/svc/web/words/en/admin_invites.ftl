# Invites.

settings-invites = Invites
invite-people = Invite people
invite-others = Invite others
invite-lifetime = Valid for
invite-forever = No limit
invite-uses = For how many
invite-for = { $count ->
    [one] 1 person
   *[other] { $count } people
}
invite-for-all = Any number
invite-role = Role of new members
invite-channel = They arrive in
invite-any-channel = The first channel
invite-approval = Approve each person
invite-approval-hint = They wait until somebody who manages invites lets them in.
make-link = Make a link
another-link = Make another link
share-link = Share
invite-link = Link
invite-copied = The link is copied. Send it to anyone you want here.
invite-code-for-phones = Code for phones
copy-invite = Copy the link
invites-all-about = All links that are still valid.
invites-own-about = Your links that are still valid. A link stops working when you leave.
no-invites = There are no links right now.
invite-by = by { $name }
invite-by-operator = by the operator
invite-used = { $uses ->
    [0] not used yet
    [one] used once
   *[other] used { $uses } times
}
invite-used-of = used { $uses } of { $most } times
invite-with-approval = with approval
invite-until = until
invite-who-came = Who joined
invite-came = Joined with it: { $names }
invite-nobody-came = Nobody who joined with it is still here.
revoke = Revoke
revoke-invite = Revoke { $code }
revoke-title = Revoke this link?
revoke-text = Nobody can join with it from now on. Members who joined with it stay.
applications = Waiting to be let in
application-approve = Let in
application-refuse = Refuse
