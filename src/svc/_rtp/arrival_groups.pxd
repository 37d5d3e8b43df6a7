"""ArrivalGroups: packets that were sent together, and how much longer each group took than the one before."""

from libc.stdint cimport int64_t

cdef struct Group:
    int64_t first_sent      # ns, our clock
    int64_t last_sent
    int64_t first_arrival   # ns, the receiver's clock
    int64_t last_arrival


cdef struct ArrivalGroups:
    Group previous
    Group current
    int groups              # 0, 1 or 2: how many of the two there are
    int reordered           # groups in a row that arrived before the one sent before them


cdef struct GroupDelta:     # between two groups, last packet to last packet (ns)
    int64_t sent
    int64_t arrived
    int64_t arrival         # of the later group, on the receiver's clock


cdef bint add(ArrivalGroups* groups, int64_t sent, int64_t arrival, GroupDelta* delta) noexcept nogil
