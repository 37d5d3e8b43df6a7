"""TemporalLayerSelector: which frames of a track one receiver gets."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef enum:
    ALL_LAYERS = 255        # the null selector: everything is forwarded, nothing remembered
    MAX_SPATIAL = 8
    MAX_TEMPORAL = 8
    MAX_DEPENDENCIES = 16   # frame dependencies of one frame; more make the frame unknown
    DECISIONS = 1024        # frames whose decision is remembered


cdef struct Frame:          # what a packet's descriptor says of its frame
    int64_t number          # extended frame_number
    uint8_t spatial_id
    uint8_t temporal_id
    # Bit K: the frame's decode target indication is Switch in the decode target (spatial_id, K).
    uint8_t switch_to
    bint start              # the packet is the frame's first
    bint end                # the packet is the frame's last
    uint8_t dependency_count
    uint16_t dependencies[MAX_DEPENDENCIES]     # frame_number differences


cdef enum Decision:
    UNDECIDED
    FORWARD
    DROP


cdef struct TemporalLayerSelector:
    uint8_t target          # max_temporal_layer as asked for, ALL_LAYERS until then
    uint8_t current[MAX_SPATIAL]    # the highest temporal layer forwarded now, by spatial layer
    # Extended frame number and decision of the newest DECISIONS frames, by number & (DECISIONS - 1); NULL
    # until a layer is first asked for.
    uint32_t* decisions
    int64_t remembered_from # frames before this one had come, and were forwarded, when a layer was first asked for
    int64_t newest          # the newest frame that has come; 0 = none yet


cdef int set_target(TemporalLayerSelector* selector, uint8_t target) noexcept nogil
cdef void forget(TemporalLayerSelector* selector) noexcept nogil
cdef void clear(TemporalLayerSelector* selector) noexcept nogil
cdef Decision decide(TemporalLayerSelector* selector, const Frame* frame) noexcept nogil
cdef Decision decision_of(const TemporalLayerSelector* selector, int64_t number) noexcept nogil
