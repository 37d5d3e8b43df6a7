"""TemporalLayerSelector: decides once per frame whether one receiver gets it.

Down takes effect at the next frame. Up to layer K takes effect at a frame that is a switch point
(DTI S) of the decode target (its spatial id, K) and whose every dependency was forwarded to this
receiver: from there on nothing refers to what the receiver never got. In VP8 L1T3 a T1 frame marked S
needs a T1 frame that a T0 receiver never got; the second half of the rule is for that. Until K is
reached, the highest layer below it that the rule allows is taken.

A frame that depends on one which was dropped is dropped too, whatever its layer: so every frame sent
has all its dependencies sent, or lost on the way to us, by construction.

Sees frames, not packets, and knows neither sequence numbers nor the wire format.
docs/signalling.md, "From participants"; AV1 RTP specification, appendix A.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memset


cdef int set_target(TemporalLayerSelector* selector, uint8_t target) noexcept nogil:
    """Ask for layers up to `target` (ALL_LAYERS for all); -1 when there is no memory to do it."""
    if selector.decisions == NULL:
        if target == ALL_LAYERS:
            return 0
        selector.decisions = <uint32_t*>calloc(DECISIONS, sizeof(uint32_t))
        if selector.decisions == NULL:
            return -1
        # Until now everything went, perhaps half of a frame just now.
        selector.remembered_from = selector.newest + 1
        memset(selector.current, MAX_TEMPORAL - 1, sizeof(selector.current))
    selector.target = target
    return 0


cdef void forget(TemporalLayerSelector* selector) noexcept nogil:
    """A new sender: its frame numbers mean nothing beside the old ones. What was asked for stays."""
    selector.newest = 0
    if selector.decisions != NULL:
        memset(selector.decisions, 0, DECISIONS * sizeof(uint32_t))
        selector.remembered_from = 0
        memset(selector.current, 0, sizeof(selector.current))


cdef void clear(TemporalLayerSelector* selector) noexcept nogil:
    free(selector.decisions)
    selector.decisions = NULL


cdef inline uint32_t entry(int64_t number, Decision decision) noexcept nogil:
    # The part of the number above the index tells this frame from one a window earlier.
    return (<uint32_t>(number // DECISIONS) << 2) | <uint32_t>decision


cdef Decision decision_of(const TemporalLayerSelector* selector, int64_t number) noexcept nogil:
    """What was decided about a frame; UNDECIDED when it has not been, or so long ago that it is forgotten."""
    cdef uint32_t found
    if number < selector.remembered_from:
        return FORWARD
    found = selector.decisions[number & (DECISIONS - 1)]
    if (found >> 2) != (entry(number, UNDECIDED) >> 2):
        return UNDECIDED
    return <Decision>(found & 3)


cdef Decision decide(TemporalLayerSelector* selector, const Frame* frame) noexcept nogil:
    """FORWARD or DROP; the same for every packet of a frame, in whatever order they come."""
    cdef Decision decision
    if frame.number <= selector.newest - DECISIONS:
        # So late that what was decided is forgotten: forwarded, because half a frame helps nobody.
        return FORWARD
    selector.newest = max(selector.newest, frame.number)
    if selector.decisions == NULL:
        return FORWARD
    decision = decision_of(selector, frame.number)
    if decision == UNDECIDED:
        decision = FORWARD if selects(selector, frame) else DROP
        selector.decisions[frame.number & (DECISIONS - 1)] = entry(frame.number, decision)
    if decision == FORWARD:
        promise_dependencies(selector, frame)
    return decision


cdef void promise_dependencies(TemporalLayerSelector* selector, const Frame* frame) noexcept nogil:
    """What a forwarded frame needs goes too when it comes late, even if fewer layers are wanted by then."""
    cdef int64_t number
    cdef int i
    for i in range(frame.dependency_count):
        number = frame.number - frame.dependencies[i]
        if number > selector.newest - DECISIONS and decision_of(selector, number) == UNDECIDED:
            selector.decisions[number & (DECISIONS - 1)] = entry(number, FORWARD)


cdef bint selects(TemporalLayerSelector* selector, const Frame* frame) noexcept nogil:
    cdef uint8_t* current = &selector.current[frame.spatial_id]
    cdef uint8_t target = selector.target if selector.target < MAX_TEMPORAL else <uint8_t>(MAX_TEMPORAL - 1)
    cdef Decision dependency
    cdef bint all_forwarded = True
    cdef int i, layer
    for i in range(frame.dependency_count):
        dependency = decision_of(selector, frame.number - frame.dependencies[i])
        if dependency == DROP:
            return False
        # One that has not come yet may come yet: it stops a switch, not the frame.
        all_forwarded = all_forwarded and dependency == FORWARD
    if current[0] > target:
        current[0] = target
    elif current[0] < target and all_forwarded:
        for layer in range(target, current[0], -1):
            if frame.switch_to & (1 << layer):
                current[0] = <uint8_t>layer
                break
    # A spatial layer is no use without those below it.
    for i in range(frame.spatial_id + 1):
        if frame.temporal_id > selector.current[i]:
            return False
    return True


cdef class Selector:
    """A TemporalLayerSelector that Python can drive; for tests."""

    cdef TemporalLayerSelector selector

    def __cinit__(self):
        memset(&self.selector, 0, sizeof(TemporalLayerSelector))
        self.selector.target = ALL_LAYERS

    def __dealloc__(self):
        clear(&self.selector)

    def set_target(self, int target):
        set_target(&self.selector, <uint8_t>(ALL_LAYERS if target < 0 else target))

    def forget(self):
        forget(&self.selector)

    def decide(self, int64_t number, int spatial_id, int temporal_id, switch_to, dependencies) -> bool:
        cdef Frame frame
        memset(&frame, 0, sizeof(Frame))
        frame.number = number
        frame.spatial_id = <uint8_t>spatial_id
        frame.temporal_id = <uint8_t>temporal_id
        for layer in switch_to:
            frame.switch_to |= <uint8_t>(1 << <int>layer)
        for dependency in dependencies:
            frame.dependencies[frame.dependency_count] = dependency
            frame.dependency_count += 1
        return decide(&self.selector, &frame) == FORWARD
