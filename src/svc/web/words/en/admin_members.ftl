# The list of members for moderators: filters and bulk actions.

settings-members = Members
timed-out = In timeout
invited-by = Invited by { $name }
nobody-found = Nobody matches.
filters = { $count ->
    [0] Filters and order
   *[other] Filters and order ({ $count } set)
}
filter-any = Any
filter-any-time = Any time
filter-role = Role
filter-joined = Joined
filter-seen = Last seen
filter-kind = Who
filter-kind-all = Everybody
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
sort-by = Order
sort-joined-down = Newest first
sort-joined = Oldest first
sort-name = By name
sort-last-seen-down = Last seen first
sort-last-seen = Longest away first
seen-on = last seen { $date }
choose-named = Choose { $name }
choose-all-shown = { $count ->
    [one] Choose the one shown
   *[other] Choose all { $count } shown
}
choose-none = Clear
chosen-count = { $count } chosen
bulk-give = Give a role
bulk-take = Take a role
bulk-timeout = Time out
bulk-kick = Kick
bulk-ban = Ban
bulk-give-title = { $count ->
    [one] Give { $role } to 1 member?
   *[other] Give { $role } to { $count } members?
}
bulk-take-title = { $count ->
    [one] Take { $role } from 1 member?
   *[other] Take { $role } from { $count } members?
}
bulk-timeout-title = { $count ->
    [one] Time 1 member out?
   *[other] Time { $count } members out?
}
bulk-kick-title = { $count ->
    [one] Kick 1 member?
   *[other] Kick { $count } members?
}
bulk-ban-title = { $count ->
    [one] Ban 1 member?
   *[other] Ban { $count } members?
}
bulk-give-act = Give it to { $count }
bulk-take-act = Take it from { $count }
bulk-timeout-act = Time { $count } out
bulk-kick-act = Kick { $count }
bulk-ban-act = Ban { $count }
bulk-give-done = { $count ->
    [one] 1 member has the role { $role } now.
   *[other] { $count } members have the role { $role } now.
}
bulk-take-done = { $count ->
    [one] 1 member no longer has the role { $role }.
   *[other] { $count } members no longer have the role { $role }.
}
bulk-timeout-done = { $count ->
    [one] 1 member is in timeout.
   *[other] { $count } members are in timeout.
}
bulk-kick-done = { $count ->
    [one] 1 member was kicked.
   *[other] { $count } members were kicked.
}
bulk-ban-done = { $count ->
    [one] 1 member is banned.
   *[other] { $count } members are banned.
}
bulk-meant = Applies to { $count }
bulk-left-out = Left out: { $count }
bulk-why-self = This is you
bulk-why-rank = You need a higher role
bulk-why-has = Has it already
bulk-why-has-not = Does not have it
bulk-progress = { $done } of { $of }
bulk-refused-title = { $count ->
    [one] 1 member is left
   *[other] { $count } members are left
}
bulk-refused = The server refused these
