"""LayerSelector: decides once per frame whether one receiver gets the frame.

A lower layer takes effect at the next frame. An increase to layer K takes effect at a frame that is a switch
point (DTI S) of the decode target (its spatial id, K), if all its dependencies were forwarded to this
receiver. After that frame, no frame refers to a frame that the receiver did not get. In VP8 L1T3, a T1 frame
marked S may need a T1 frame that a T0 receiver did not get, which is why the dependencies matter. Until K is
reached, the highest permitted layer below K is used.

A frame that depends on a dropped frame is also dropped, regardless of its layer. All dependencies of a
forwarded frame have therefore been forwarded, or were lost before they reached us.

Spatial layers within one stream (SVC) change only at the first frame of a picture, so that the picture's last
forwarded frame is known. A receiver also gets the layers below its highest layer, even if pictures between
keyframes do not refer to them (`L3T3_KEY`), so a lower layer can be shown immediately. An increase waits for
a frame that is a switch point of a higher layer; with `L3T3_KEY`, that is a keyframe.

Works on frames, not packets, and is independent of sequence numbers and the wire format. See
docs/signalling.md, "From participants"; AV1 RTP specification, appendix A.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memset


cdef void init(LayerSelector* selector) noexcept nogil:
    """Select all layers."""
    memset(selector, 0, sizeof(LayerSelector))
    selector.target = selector.ceiling = selector.max_spatial = ALL_LAYERS
    selector.spatial = MAX_SPATIAL - 1


cdef int set_target(LayerSelector* selector, uint8_t target) noexcept nogil:
    """Request layers up to `target` (ALL_LAYERS for all). Return -1 if memory allocation fails."""
    if target != ALL_LAYERS:
        if remember_frames(selector) < 0:
            return -1
        selector.limited = True
    selector.target = target
    return 0


cdef int set_max_spatial(LayerSelector* selector, uint8_t limit) noexcept nogil:
    """Request spatial layers up to `limit` (ALL_LAYERS for all). Return -1 if memory allocation fails."""
    if limit != ALL_LAYERS:
        if remember_frames(selector) < 0:
            return -1
        selector.limited = True
    selector.max_spatial = limit
    return 0


cdef int remember_frames(LayerSelector* selector) noexcept nogil:
    """Start making and storing a decision about each frame. Return -1 if memory allocation fails."""
    if selector.decisions != NULL:
        return 0
    selector.decisions = <uint32_t*>calloc(DECISIONS, sizeof(uint32_t))
    if selector.decisions == NULL:
        return -1
    # Every frame has been forwarded until now, perhaps including half of the current frame.
    selector.remembered_from = selector.newest + 1
    memset(selector.current, MAX_TEMPORAL - 1, sizeof(selector.current))
    return 0


cdef void forget(LayerSelector* selector) noexcept nogil:
    """Forget the frames, because a new sender's frame numbers are unrelated. The requested layer stays."""
    selector.newest = 0
    if selector.decisions != NULL:
        memset(selector.decisions, 0, DECISIONS * sizeof(uint32_t))
        selector.remembered_from = 0
        selector.spatial = 0
        memset(selector.current, 0, sizeof(selector.current))


cdef void clear(LayerSelector* selector) noexcept nogil:
    free(selector.decisions)
    selector.decisions = NULL


cdef inline uint32_t entry(int64_t number, Decision decision) noexcept nogil:
    # The bits of the number above the index distinguish this frame from the frame one window earlier.
    return (<uint32_t>(number // DECISIONS) << 2) | <uint32_t>decision


cdef Decision decision_of(const LayerSelector* selector, int64_t number) noexcept nogil:
    """Return the decision about a frame, or UNDECIDED if none has been made or it has been forgotten."""
    cdef uint32_t found
    if number < selector.remembered_from:
        return FORWARD
    found = selector.decisions[number & (DECISIONS - 1)]
    if (found >> 2) != (entry(number, UNDECIDED) >> 2):
        return UNDECIDED
    return <Decision>(found & 3)


cdef Decision decide(LayerSelector* selector, const Frame* frame) noexcept nogil:
    """Return FORWARD or DROP. The result is the same for every packet of a frame, in any order."""
    cdef Decision decision
    cdef bint newer = frame.number > selector.newest
    if frame.number <= selector.newest - DECISIONS:
        # The decision has been forgotten. Forward the packet, because half a frame is useless.
        return FORWARD
    selector.newest = max(selector.newest, frame.number)
    if selector.decisions == NULL:
        return FORWARD
    decision = decision_of(selector, frame.number)
    if decision == UNDECIDED:
        decision = FORWARD if frame.temporal_id < selector.ceiling and selects(selector, frame, newer) else DROP
        selector.decisions[frame.number & (DECISIONS - 1)] = entry(frame.number, decision)
    if decision == FORWARD:
        promise_dependencies(selector, frame)
    return decision


cdef void promise_dependencies(LayerSelector* selector, const Frame* frame) noexcept nogil:
    """Promise to forward a frame's dependencies, so that a late dependency is forwarded even if fewer layers
    have been requested since.
    """
    cdef int64_t number
    cdef int i
    for i in range(frame.dependency_count):
        number = frame.number - frame.dependencies[i]
        if number > selector.newest - DECISIONS and decision_of(selector, number) == UNDECIDED:
            selector.decisions[number & (DECISIONS - 1)] = entry(number, FORWARD)


cdef bint selects(LayerSelector* selector, const Frame* frame, bint newer) noexcept nogil:
    cdef uint8_t* current = &selector.current[frame.spatial_id]
    cdef uint8_t target = selector.target if selector.target < MAX_TEMPORAL else <uint8_t>(MAX_TEMPORAL - 1)
    cdef Decision dependency
    cdef bint all_forwarded = True
    cdef int i, layer
    for i in range(frame.dependency_count):
        dependency = decision_of(selector, frame.number - frame.dependencies[i])
        if dependency == DROP:
            return False
        # A missing dependency may still arrive, so it blocks an upward switch but not this frame.
        all_forwarded = all_forwarded and dependency == FORWARD
    if current[0] > target:
        current[0] = target
    elif current[0] < target and all_forwarded:
        for layer in range(target, current[0], -1):
            if frame.switch_to & (1 << layer):
                current[0] = <uint8_t>layer
                break
    if newer and frame.spatial_id == 0:
        select_spatial(selector, frame, all_forwarded and frame.temporal_id <= current[0])
    if frame.spatial_id > selector.spatial:
        return False
    # A spatial layer is useless without the layers below it.
    for i in range(frame.spatial_id + 1):
        if frame.temporal_id > selector.current[i]:
            return False
    return True


cdef void select_spatial(LayerSelector* selector, const Frame* frame, bint may_rise) noexcept nogil:
    """Select the spatial layers of a picture at its first frame."""
    cdef uint8_t limit = min(selector.max_spatial, <uint8_t>(MAX_SPATIAL - 1))
    cdef int layer
    if limit <= selector.spatial:
        selector.spatial = limit
        return
    for layer in range(limit, selector.spatial, -1):
        if may_rise and frame.opens & (1 << layer):
            selector.spatial = <uint8_t>layer
            return


cdef class Selector:
    """A LayerSelector for Python, in tests."""

    cdef LayerSelector selector

    def __cinit__(self):
        init(&self.selector)

    def __dealloc__(self):
        clear(&self.selector)

    def set_target(self, int target):
        set_target(&self.selector, <uint8_t>(ALL_LAYERS if target < 0 else target))

    def set_max_spatial(self, int limit):
        set_max_spatial(&self.selector, <uint8_t>(ALL_LAYERS if limit < 0 else limit))

    def forget(self):
        forget(&self.selector)

    def decide(self, int64_t number, int spatial_id, int temporal_id, switch_to, dependencies, opens=()) -> bool:
        cdef Frame frame
        memset(&frame, 0, sizeof(Frame))
        frame.number = number
        frame.spatial_id = <uint8_t>spatial_id
        frame.temporal_id = <uint8_t>temporal_id
        for layer in switch_to:
            frame.switch_to |= <uint8_t>(1 << <int>layer)
        for layer in opens:
            frame.opens |= <uint8_t>(1 << <int>layer)
        for dependency in dependencies:
            frame.dependencies[frame.dependency_count] = dependency
            frame.dependency_count += 1
        return decide(&self.selector, &frame) == FORWARD
