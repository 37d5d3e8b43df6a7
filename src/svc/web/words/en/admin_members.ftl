# The list of members for moderators: filters and bulk actions.

settings-members = Members
timed-out = In timeout
invited-by = Invited by { $name }
nobody-found = No members match.
filters = { $count ->
    [0] Filter and sort
   *[other] Filter and sort ({ $count } filters)
}
filter-any = Any
filter-any-time = Any time
filter-role = Role
filter-joined = Joined
filter-seen = Last seen
filter-kind = Type
filter-kind-all = Everyone
filter-kind-people = People
filter-kind-bots = Bots
days-joined-within = { $count ->
    [one] In the last day
   *[other] In the last { $count } days
}
days-joined-before = { $count ->
    [one] More than a day ago
   *[other] More than { $count } days ago
}
days-seen-within = { $count ->
    [one] In the last day
   *[other] In the last { $count } days
}
days-seen-before = { $count ->
    [one] Not in the last day
   *[other] Not in the last { $count } days
}
sort-by = Sort by
sort-joined-down = Newest first
sort-joined = Oldest first
sort-name = Name
sort-last-seen-down = Last seen: newest first
sort-last-seen = Last seen: oldest first
seen-on = last seen { $date }
choose-named = Select { $name }
choose-all-shown = { $count ->
    [one] Select the member shown
   *[other] Select all { $count } shown
}
choose-none = Clear
chosen-count = { $count } selected
bulk-give = Assign role
bulk-take = Remove role
bulk-timeout = Time out
bulk-kick = Kick
bulk-ban = Ban
bulk-give-title = { $count ->
    [one] Assign { $role } to 1 member?
   *[other] Assign { $role } to { $count } members?
}
bulk-take-title = { $count ->
    [one] Remove { $role } from 1 member?
   *[other] Remove { $role } from { $count } members?
}
bulk-timeout-title = { $count ->
    [one] Time out 1 member?
   *[other] Time out { $count } members?
}
bulk-kick-title = { $count ->
    [one] Kick 1 member?
   *[other] Kick { $count } members?
}
bulk-ban-title = { $count ->
    [one] Ban 1 member?
   *[other] Ban { $count } members?
}
bulk-give-act = Assign to { $count }
bulk-take-act = Remove from { $count }
bulk-timeout-act = Time out { $count }
bulk-kick-act = Kick { $count }
bulk-ban-act = Ban { $count }
bulk-give-done = { $count ->
    [one] 1 member now has the role { $role }.
   *[other] { $count } members now have the role { $role }.
}
bulk-take-done = { $count ->
    [one] 1 member no longer has the role { $role }.
   *[other] { $count } members no longer have the role { $role }.
}
bulk-timeout-done = { $count ->
    [one] 1 member was timed out.
   *[other] { $count } members were timed out.
}
bulk-kick-done = { $count ->
    [one] 1 member was kicked.
   *[other] { $count } members were kicked.
}
bulk-ban-done = { $count ->
    [one] 1 member was banned.
   *[other] { $count } members were banned.
}
bulk-meant = Applies to: { $count }
bulk-left-out = Skipped: { $count }
bulk-why-self = This is you
bulk-why-rank = You need a higher role
bulk-why-has = Already has this role
bulk-why-has-not = Doesn’t have this role
bulk-progress = { $done } of { $of }
bulk-refused-title = { $count ->
    [one] 1 member wasn’t changed
   *[other] { $count } members weren’t changed
}
bulk-refused = Rejected by the server
