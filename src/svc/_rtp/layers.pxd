"""LayerSelector: selects the frames of a track that one receiver gets."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef enum:
    ALL_LAYERS = 255        # no selection: every frame is forwarded, and no decisions are remembered
    MAX_SPATIAL = 8
    MAX_TEMPORAL = 8
    MAX_DEPENDENCIES = 16   # maximum number of dependencies per frame; a frame with more counts as unknown
    DECISIONS = 1024        # number of frames whose decision is remembered


cdef struct Frame:          # a frame, as described by a packet's descriptor
    int64_t number          # extended frame_number
    uint8_t spatial_id
    uint8_t temporal_id
    # Bit K is set if the frame's decode target indication is Switch in the decode target (spatial_id, K).
    uint8_t switch_to
    # Bit S is set if the frame's decode target indication is Switch in a decode target of spatial layer S.
    uint8_t opens
    bint start              # the packet is the frame's first
    bint end                # the packet is the frame's last
    uint8_t dependency_count
    uint16_t dependencies[MAX_DEPENDENCIES]     # frame_number differences


cdef enum Decision:
    UNDECIDED
    FORWARD
    DROP


cdef struct LayerSelector:
    uint8_t target          # the requested max_temporal_layer; ALL_LAYERS until one is requested
    uint8_t current[MAX_SPATIAL]    # by spatial layer: the highest temporal layer forwarded now
    # The extended frame numbers of the newest DECISIONS frames and the decisions about them, by number &
    # (DECISIONS - 1). NULL until a layer is first requested.
    uint32_t* decisions
    int64_t remembered_from # every earlier frame was forwarded, because no layer had been requested yet
    int64_t newest          # the newest frame received, or 0 if none yet
    bint limited            # a target below ALL_LAYERS has ever been set
    # New frames of this temporal layer and above are currently dropped, because the receiver's downlink is
    # full. ALL_LAYERS if none are dropped.
    uint8_t ceiling
    uint8_t max_spatial     # the requested highest spatial layer; ALL_LAYERS until one is requested
    uint8_t spatial         # the highest spatial layer forwarded now, once frames are remembered


cdef void init(LayerSelector* selector) noexcept nogil
cdef int set_target(LayerSelector* selector, uint8_t target) noexcept nogil
cdef int set_max_spatial(LayerSelector* selector, uint8_t limit) noexcept nogil
cdef int remember_frames(LayerSelector* selector) noexcept nogil
cdef void forget(LayerSelector* selector) noexcept nogil
cdef void clear(LayerSelector* selector) noexcept nogil
cdef Decision decide(LayerSelector* selector, const Frame* frame) noexcept nogil
cdef Decision decision_of(const LayerSelector* selector, int64_t number) noexcept nogil
