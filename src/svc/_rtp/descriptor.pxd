"""Dependency Descriptor: which frame a packet belongs to, and which frames and receivers need that frame.

AV1 RTP specification appendix A, by the names of A.8. The structure that descriptors refer to is
state of the stream, and the caller's: it keeps the newest one and, because packets come late, the
one before, and picks with `contains`. Nothing here allocates; everything is bounded by the arrays.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef enum:
    MAX_TEMPLATES = 64          # template ids have six bits
    MAX_DECODE_TARGETS = 32     # dt_cnt_minus_one has five bits
    MAX_CHAINS = 32             # chain_cnt <= DtCnt
    MAX_SPATIAL_LAYERS = 8      # the syntax sets no limit; AV1 has 4, VP9 has 8
    MAX_TEMPORAL_LAYERS = 8     # the syntax sets no limit; AV1 and VP9 have 8
    MAX_FDIFFS = 16             # a template can name 16 distances; H264 refers to 16 frames, others to fewer
    MAX_DESCRIPTOR = 255        # bytes that a header extension can carry (RFC 8285 section 4.3)


cdef enum:                      # what is wrong; all negative
    TRUNCATED = -1              # the bytes end before the syntax does
    NO_STRUCTURE = -2           # none is attached and none is known
    UNKNOWN_TEMPLATE = -3       # not in the structure: another one was attached to a packet not seen yet
    TOO_MANY_TEMPLATES = -4
    TOO_MANY_SPATIAL_LAYERS = -5
    TOO_MANY_TEMPORAL_LAYERS = -6
    TOO_MANY_FDIFFS = -7
    NO_SPACE = -8               # writing: the capacity is too small


cdef enum:                      # Decode Target Indication of a frame, table A.1
    NOT_PRESENT                 # "-": the decode target does without the frame
    DISCARDABLE                 # "D": no other frame of the decode target needs it
    SWITCH                      # "S": if it can be decoded, so can all that follow in the decode target
    REQUIRED                    # "R": none of these


cdef struct FrameDependencyTemplate:
    uint8_t spatial_id
    uint8_t temporal_id
    uint8_t fdiff_cnt
    uint8_t fdiff[MAX_FDIFFS]               # distances to the frames it depends on, 1..16, as ordered on the wire
    uint8_t dti[MAX_DECODE_TARGETS]         # by decode target
    uint8_t chain_fdiff[MAX_CHAINS]         # by chain: distance to the chain's last frame, 0 = needs none


cdef struct FrameDependencyStructure:       # 5.5 KB; zeroed it contains no template
    bint resolutions_present_flag
    uint8_t template_id_offset              # the id of templates[0]; ids go on from there, modulo 64
    uint8_t template_cnt
    uint8_t dt_cnt
    uint8_t chain_cnt                       # 0 = frames are protected by no chain
    uint8_t max_spatial_id
    uint8_t max_temporal_id
    uint8_t decode_target_protected_by[MAX_DECODE_TARGETS]  # the chain of each; meaningful where chain_cnt > 0
    uint8_t decode_target_spatial_id[MAX_DECODE_TARGETS]    # the highest layer in each; targets have no order
    uint8_t decode_target_temporal_id[MAX_DECODE_TARGETS]
    uint16_t max_render_width_minus_1[MAX_SPATIAL_LAYERS]   # where resolutions_present_flag
    uint16_t max_render_height_minus_1[MAX_SPATIAL_LAYERS]
    FrameDependencyTemplate templates[MAX_TEMPLATES]


cdef struct DependencyDescriptor:
    # Mandatory fields: filled in whenever there are 3 bytes, even if reading fails later.
    bint start_of_frame                     # the packet has the first byte of its frame
    bint end_of_frame                       # and this one the last
    uint8_t frame_dependency_template_id    # raw, as on the wire
    uint16_t frame_number                   # in decode order, modulo 2^16; simulcast layers share one counter

    # What came with it, as on the wire.
    bint template_dependency_structure_present_flag
    bint active_decode_targets_present_flag
    bint custom_dtis_flag
    bint custom_fdiffs_flag
    bint custom_chains_flag
    uint32_t active_decode_targets_bitmask  # see `updates_active_decode_targets`; bit i = decode target i

    # The frame, from its template or customised.
    const FrameDependencyStructure* structure   # what it was read against: the attached one or the known one
    uint8_t template_index
    uint8_t spatial_id
    uint8_t temporal_id
    uint8_t frame_fdiff_cnt
    uint16_t frame_fdiff[MAX_FDIFFS]            # frame_number less these, modulo 2^16: what it depends on; 1..4096
    uint8_t frame_dti[MAX_DECODE_TARGETS]       # structure.dt_cnt of them
    uint8_t frame_chain_fdiff[MAX_CHAINS]       # structure.chain_cnt of them
    uint32_t frame_max_width                    # 0 = not told
    uint32_t frame_max_height


# Before reading: which structure?

cdef inline bint attaches_structure(const uint8_t* data, size_t sz) noexcept nogil:
    return sz > 3 and data[3] & 0x80 != 0


cdef inline uint8_t template_index(const FrameDependencyStructure* structure, uint8_t template_id) noexcept nogil:
    """(template_id - offset) modulo 64; only below template_cnt it is an index."""
    return <uint8_t>((template_id + 64 - structure.template_id_offset) & 63)


cdef inline bint contains(const FrameDependencyStructure* structure, uint8_t template_id) noexcept nogil:
    return template_index(structure, template_id) < structure.template_cnt


cdef int mandatory_fields(const uint8_t* data, size_t sz, DependencyDescriptor* descriptor) noexcept nogil

# Reading.

cdef int dependency_descriptor(const uint8_t* data, size_t sz, const FrameDependencyStructure* known,
                               FrameDependencyStructure* attached, DependencyDescriptor* descriptor) noexcept nogil

# Active decode targets (section A.4).

cdef inline bint updates_active_decode_targets(const DependencyDescriptor* descriptor) noexcept nogil:
    """Whether its bitmask is in force from this packet on: told explicitly, or all by a new structure."""
    return descriptor.active_decode_targets_present_flag or descriptor.template_dependency_structure_present_flag


cdef inline uint32_t all_decode_targets(const FrameDependencyStructure* structure) noexcept nogil:
    return <uint32_t>((<uint64_t>1 << structure.dt_cnt) - 1)


cdef uint32_t decode_targets_up_to(const FrameDependencyStructure* structure, uint8_t temporal_id) noexcept nogil


cdef class Structure:
    cdef FrameDependencyStructure structure
