"""Dependency Descriptor: describes the frame of a packet, and which frames and receivers depend on it.

See the AV1 RTP specification, appendix A. Names are as in A.8. Descriptors refer to a structure, which the
caller stores. Because packets may arrive late, the caller stores the newest structure and the previous one,
and selects one of them with `contains`. This module does not allocate memory: all arrays have fixed sizes.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef enum:
    MAX_TEMPLATES = 64          # template ids have six bits
    MAX_DECODE_TARGETS = 32     # dt_cnt_minus_one has five bits
    MAX_CHAINS = 32             # chain_cnt <= DtCnt
    MAX_SPATIAL_LAYERS = 8      # the syntax sets no limit; AV1 has 4, VP9 has 8
    MAX_TEMPORAL_LAYERS = 8     # the syntax sets no limit; AV1 and VP9 have 8
    MAX_FDIFFS = 16  # a template can list 16 distances; H264 refers to 16 frames, other codecs to fewer
    MAX_DESCRIPTOR = 255        # bytes that a header extension can carry (RFC 8285 section 4.3)


cdef enum:                      # errors; all negative
    TRUNCATED = -1              # the data ends too early
    NO_STRUCTURE = -2           # no structure is attached, and none is stored
    UNKNOWN_TEMPLATE = -3  # not in the structure: a packet that has not arrived contained another structure
    TOO_MANY_TEMPLATES = -4
    TOO_MANY_SPATIAL_LAYERS = -5
    TOO_MANY_TEMPORAL_LAYERS = -6
    TOO_MANY_FDIFFS = -7
    NO_SPACE = -8               # for writing: the capacity is too small


cdef enum:                      # Decode Target Indication of a frame, table A.1
    NOT_PRESENT                 # "-": not part of the decode target
    DISCARDABLE                 # "D": no other frame of the decode target depends on it
    SWITCH                      # "S": once decoded, the rest of the decode target can be decoded
    REQUIRED                    # "R": none of these


cdef struct FrameDependencyTemplate:
    uint8_t spatial_id
    uint8_t temporal_id
    uint8_t fdiff_cnt
    uint8_t fdiff[MAX_FDIFFS]               # distances to its dependencies, 1..16, in wire order
    uint8_t dti[MAX_DECODE_TARGETS]         # by decode target
    uint8_t chain_fdiff[MAX_CHAINS]  # by chain: distance to the chain's previous frame; 0 if none is needed


cdef struct FrameDependencyStructure:       # 5.5 KB; all zeros if there are no templates
    bint resolutions_present_flag
    uint8_t template_id_offset              # the id of templates[0]; later ids count up modulo 64
    uint8_t template_cnt
    uint8_t dt_cnt
    uint8_t chain_cnt                       # 0 if no chain protects the frames
    uint8_t max_spatial_id
    uint8_t max_temporal_id
    uint8_t decode_target_protected_by[MAX_DECODE_TARGETS]  # by target: its chain; valid if chain_cnt > 0
    uint8_t decode_target_spatial_id[MAX_DECODE_TARGETS]    # its highest layer; targets are unordered
    uint8_t decode_target_temporal_id[MAX_DECODE_TARGETS]
    uint16_t max_render_width_minus_1[MAX_SPATIAL_LAYERS]   # valid if resolutions_present_flag
    uint16_t max_render_height_minus_1[MAX_SPATIAL_LAYERS]
    FrameDependencyTemplate templates[MAX_TEMPLATES]


cdef struct DependencyDescriptor:
    # Mandatory fields, filled in if there are at least 3 bytes, even if a later field cannot be read.
    bint start_of_frame                     # the packet contains the first byte of its frame
    bint end_of_frame                       # the packet contains the last byte of its frame
    uint8_t frame_dependency_template_id    # as on the wire
    uint16_t frame_number                   # in decode order, modulo 2^16; simulcast layers share one counter

    # Optional fields, as on the wire.
    bint template_dependency_structure_present_flag
    bint active_decode_targets_present_flag
    bint custom_dtis_flag
    bint custom_fdiffs_flag
    bint custom_chains_flag
    uint32_t active_decode_targets_bitmask  # see `updates_active_decode_targets`; bit i is decode target i

    # The frame, from its template or custom fields.
    const FrameDependencyStructure* structure   # the structure used for reading: attached or known
    uint8_t template_index
    uint8_t spatial_id
    uint8_t temporal_id
    uint8_t frame_fdiff_cnt
    uint16_t frame_fdiff[MAX_FDIFFS]            # distances to its dependencies, 1..4096, modulo 2^16
    uint8_t frame_dti[MAX_DECODE_TARGETS]       # the first structure.dt_cnt are valid
    uint8_t frame_chain_fdiff[MAX_CHAINS]       # the first structure.chain_cnt are valid
    uint32_t frame_max_width                    # 0 if not given
    uint32_t frame_max_height


# Functions for choosing a structure before reading a descriptor.

cdef inline bint attaches_structure(const uint8_t* data, size_t sz) noexcept nogil:
    return sz > 3 and data[3] & 0x80 != 0


cdef inline uint8_t template_index(const FrameDependencyStructure* structure, uint8_t template_id) noexcept nogil:
    """Return (template_id - offset) modulo 64. The result is an index only if it is below template_cnt."""
    return <uint8_t>((template_id + 64 - structure.template_id_offset) & 63)


cdef inline bint contains(const FrameDependencyStructure* structure, uint8_t template_id) noexcept nogil:
    return template_index(structure, template_id) < structure.template_cnt


cdef int mandatory_fields(const uint8_t* data, size_t sz, DependencyDescriptor* descriptor) noexcept nogil

# Functions for reading.

cdef int dependency_descriptor(const uint8_t* data, size_t sz, const FrameDependencyStructure* known,
                               FrameDependencyStructure* attached, DependencyDescriptor* descriptor) noexcept nogil

# Active decode targets (section A.4).

cdef inline bint updates_active_decode_targets(const DependencyDescriptor* descriptor) noexcept nogil:
    """Return whether a new bitmask applies starting with this packet, either an explicit bitmask or that of
    a new structure.
    """
    return descriptor.active_decode_targets_present_flag or descriptor.template_dependency_structure_present_flag


cdef inline uint32_t all_decode_targets(const FrameDependencyStructure* structure) noexcept nogil:
    return <uint32_t>((<uint64_t>1 << structure.dt_cnt) - 1)


cdef uint32_t decode_targets_up_to(const FrameDependencyStructure* structure, uint8_t spatial_id,
                                   uint8_t temporal_id) noexcept nogil


cdef class Structure:
    cdef FrameDependencyStructure structure
