"""ArrivalGroups: groups packets sent together, and compares the transit times of consecutive groups."""

from libc.stdint cimport int64_t

cdef struct Group:
    int64_t first_sent      # ns, our clock
    int64_t last_sent
    int64_t first_arrival   # ns, the receiver's clock
    int64_t last_arrival


cdef struct ArrivalGroups:
    Group previous
    Group current
    int groups              # number of groups stored: 0, 1 or 2
    int reordered           # number of consecutive groups that arrived before a group sent earlier


cdef struct GroupDelta:     # between the last packets of two groups (ns)
    int64_t sent
    int64_t arrived
    int64_t arrival         # arrival of the later group, on the receiver's clock


cdef bint add(ArrivalGroups* groups, int64_t sent, int64_t arrival, GroupDelta* delta) noexcept nogil
