"""ArrivalGroups: groups packets sent together, and compares the transit times of consecutive groups.

The delay of a single packet is mostly noise. Packets that leave within 5 ms of each other, or that a router
delayed and released together, therefore form one measurement. See docs/bandwidth.md, "Groups".
"""

# Packets sent within this time are a group (ns).
cdef int64_t GROUP_LENGTH = 5_000_000
# Packets that were sent further apart but arrive within this time of each other left a queue together (ns).
cdef int64_t BURST_GAP = 5_000_000
cdef int64_t MAX_BURST = 100_000_000
# After this many consecutive groups in the wrong order, assume that the path has changed.
cdef int MAX_REORDERED = 3


cdef bint add(ArrivalGroups* groups, int64_t sent, int64_t arrival, GroupDelta* delta) noexcept nogil:
    """Add a packet, in sending order. Return True if it ended a group. `delta` then contains the comparison.
    """
    cdef Group* current = &groups.current
    cdef bint compared
    if groups.groups == 0:
        begin(current, sent, arrival)
        groups.groups = 1
        return False
    if sent < current.first_sent:
        return False
    if belongs(current, sent, arrival):
        current.last_sent = max(current.last_sent, sent)
        current.last_arrival = max(current.last_arrival, arrival)
        return False
    compared = groups.groups == 2
    if compared:
        delta.sent = current.last_sent - groups.previous.last_sent
        delta.arrived = current.last_arrival - groups.previous.last_arrival
        delta.arrival = current.last_arrival
        if delta.arrived < 0:
            groups.reordered += 1
            if groups.reordered >= MAX_REORDERED:
                groups.groups = groups.reordered = 0
            return False
        groups.reordered = 0
    groups.previous = current[0]
    groups.groups = 2
    begin(current, sent, arrival)
    return compared


cdef inline void begin(Group* group, int64_t sent, int64_t arrival) noexcept nogil:
    group.first_sent = group.last_sent = sent
    group.first_arrival = group.last_arrival = arrival


cdef inline bint belongs(const Group* group, int64_t sent, int64_t arrival) noexcept nogil:
    cdef int64_t since_last = arrival - group.last_arrival
    if sent - group.first_sent <= GROUP_LENGTH:
        return True
    return (since_last - (sent - group.last_sent) < 0 and since_last <= BURST_GAP
            and arrival - group.first_arrival < MAX_BURST)
