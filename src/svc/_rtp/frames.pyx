"""FrameReader: stores the structures to which a stream's descriptors refer, and extends frame numbers.

Reads a descriptor once per packet for all receivers. `layers` selects the frames that each receiver gets. A
frame with an unknown structure counts as part of the lowest layer, which every receiver gets. The whole frame
is therefore forwarded, even if its structure arrives between two of its packets. See the AV1 RTP
specification, appendix A.
"""

from libc.stdint cimport int16_t, uint16_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from svc._rtp.descriptor cimport (
    SWITCH, TRUNCATED, Structure, contains, dependency_descriptor, mandatory_fields, updates_active_decode_targets,
)
from svc._rtp.layers cimport MAX_SPATIAL, MAX_TEMPORAL

cdef enum:
    # Extended frame numbers start here, so that earlier frames stay positive.
    FIRST_CYCLE = 1 << 16


cdef inline int64_t extend_frame(const FrameReader* reader, uint16_t number) noexcept nogil:
    if reader.highest == 0:
        return FIRST_CYCLE + number
    return reader.highest + <int16_t>(number - <uint16_t>reader.highest)


cdef const FrameDependencyStructure* structure_for(FrameReader* reader, uint8_t template_id) noexcept nogil:
    """Return the newest structure that contains the template, or NULL if neither structure does."""
    cdef int i, at
    for i in range(2):
        at = reader.newest ^ i
        if reader.known[at] and contains(&reader.structures[at], template_id):
            return &reader.structures[at]
    return NULL


cdef void keep_structure(FrameReader* reader, int64_t number) noexcept nogil:
    """Store the attached structure as the newest structure or, if the packet is late, as the previous one."""
    cdef uint8_t at = reader.newest
    if reader.known[at] and reader.structure_frame[at] > number:
        at ^= 1
        if reader.known[at] and reader.structure_frame[at] > number:
            return
    elif reader.known[at] and reader.structure_frame[at] < number:
        at ^= 1
        reader.newest = at
    reader.structures[at] = reader.attached
    reader.known[at] = True
    reader.structure_frame[at] = number


cdef int read_again(FrameReader* reader, const uint8_t* data, uint8_t length,
                    DependencyDescriptor* descriptor) noexcept nogil:
    """Read a descriptor without storing anything. Return 0 or an error."""
    if mandatory_fields(data, length, descriptor) < 0:
        return TRUNCATED
    return dependency_descriptor(
        data, length, structure_for(reader, descriptor.frame_dependency_template_id), &reader.attached, descriptor)


cdef Reading read_frame(FrameReader* reader, const uint8_t* data, uint8_t length, uint32_t timestamp,
                        Frame* frame) noexcept nogil:
    """Fill in a packet's frame from its descriptor, or only the frame's number if the rest cannot be read."""
    cdef DependencyDescriptor descriptor
    cdef bint newer
    if mandatory_fields(data, length, &descriptor) < 0:
        return NOTHING
    memset(frame, 0, sizeof(Frame))
    frame.number = extend_frame(reader, descriptor.frame_number)
    frame.start = descriptor.start_of_frame
    frame.end = descriptor.end_of_frame
    newer = frame.number > reader.highest
    reader.highest = max(reader.highest, frame.number)
    if read_again(reader, data, length, &descriptor) < 0:
        remember(reader, timestamp, frame)
        return NUMBER_ONLY
    if descriptor.template_dependency_structure_present_flag:
        keep_structure(reader, frame.number)
    if newer and updates_active_decode_targets(&descriptor):
        reader.active_decode_targets = descriptor.active_decode_targets_bitmask
    fill_frame(frame, &descriptor)
    remember(reader, timestamp, frame)
    return WITH_STRUCTURE if descriptor.template_dependency_structure_present_flag else WHOLE_FRAME


cdef void fill_frame(Frame* frame, const DependencyDescriptor* descriptor) noexcept nogil:
    cdef int i
    frame.spatial_id = descriptor.spatial_id
    frame.temporal_id = descriptor.temporal_id
    frame.switch_to = switch_points(descriptor)
    # Most streams have one spatial layer.
    frame.opens = spatial_switch_points(descriptor) if descriptor.structure.max_spatial_id else 0xFF
    frame.dependency_count = descriptor.frame_fdiff_cnt
    for i in range(descriptor.frame_fdiff_cnt):
        frame.dependencies[i] = descriptor.frame_fdiff[i]


cdef uint8_t switch_points(const DependencyDescriptor* descriptor) noexcept nogil:
    """Return a bitmask of switch points. Bit K is set if the DTI in decode target (the frame's spatial id, K)
    is Switch.

    Layers above the stream's highest layer count as the highest layer.
    """
    cdef const FrameDependencyStructure* structure = descriptor.structure
    cdef uint8_t bits = 0
    cdef int i, highest = 0
    for i in range(structure.dt_cnt):
        if structure.decode_target_spatial_id[i] == descriptor.spatial_id:
            if structure.decode_target_temporal_id[i] > highest:
                highest = structure.decode_target_temporal_id[i]
            if descriptor.frame_dti[i] == SWITCH:
                bits |= <uint8_t>(1 << structure.decode_target_temporal_id[i])
    return bits | above(bits, highest)


cdef uint8_t spatial_switch_points(const DependencyDescriptor* descriptor) noexcept nogil:
    """Return a bitmask of switch points. Bit S is set if the DTI in a decode target of spatial layer S is
    Switch.
    """
    cdef const FrameDependencyStructure* structure = descriptor.structure
    cdef uint8_t bits = 0
    cdef int i
    for i in range(structure.dt_cnt):
        if descriptor.frame_dti[i] == SWITCH:
            bits |= <uint8_t>(1 << structure.decode_target_spatial_id[i])
    return bits | above(bits, structure.max_spatial_id)


cdef inline uint8_t above(uint8_t bits, int highest) noexcept nogil:
    """Return the bits above bit `highest` if that bit is set, or else 0."""
    return <uint8_t>(0xFE << highest) if bits & (1 << highest) else 0


cdef uint8_t max_spatial_layer(const FrameReader* reader) noexcept nogil:
    """Return the highest spatial layer within the stream, or 0 if its packets have no descriptors."""
    if reader == NULL or not reader.known[reader.newest]:
        return 0
    return reader.structures[reader.newest].max_spatial_id


cdef void remember(FrameReader* reader, uint32_t timestamp, const Frame* frame) noexcept nogil:
    cdef RecentFrame* recent
    cdef int i
    for i in range(RECENT):
        if reader.recent[i].frame.number == frame.number:
            return
    recent = &reader.recent[reader.next_recent]
    recent.timestamp = timestamp
    recent.frame = frame[0]
    reader.next_recent = <uint8_t>((reader.next_recent + 1) % RECENT)


cdef bint recall_frame(FrameReader* reader, uint32_t timestamp, Frame* frame) noexcept nogil:
    """Find the frame of a packet without a descriptor: the newest known frame with the packet's timestamp."""
    cdef int i, at
    for i in range(1, RECENT + 1):
        at = (reader.next_recent + RECENT - i) % RECENT
        if reader.recent[at].frame.number and reader.recent[at].timestamp == timestamp:
            frame[0] = reader.recent[at].frame
            frame.start = False
            frame.end = False
            return True
    return False


cdef class Reader:
    """A FrameReader for Python, in tests and tools."""

    cdef FrameReader* reader

    def __cinit__(self):
        self.reader = <FrameReader*>calloc(1, sizeof(FrameReader))
        if self.reader == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.reader)

    @property
    def active_decode_targets(self) -> int:
        return self.reader.active_decode_targets

    def structure(self, bytes data) -> Structure | None:
        """Return the stored structure to which a descriptor refers, or None if there is none."""
        cdef DependencyDescriptor descriptor
        cdef const FrameDependencyStructure* found
        cdef Structure copy = Structure()
        if mandatory_fields(data, <size_t>len(data), &descriptor) < 0:
            return None
        found = structure_for(self.reader, descriptor.frame_dependency_template_id)
        if found == NULL:
            return None
        copy.structure = found[0]
        return copy

    def read(self, bytes data, uint32_t timestamp) -> dict | None:
        cdef Frame frame
        if read_frame(self.reader, data, <uint8_t>len(data), timestamp, &frame) == NOTHING:
            return None
        return fields(&frame)

    def recall(self, uint32_t timestamp) -> dict | None:
        cdef Frame frame
        return fields(&frame) if recall_frame(self.reader, timestamp, &frame) else None


cdef dict fields(const Frame* frame):
    cdef int layers = frame.switch_to, opens = frame.opens
    return {
        "number": frame.number,
        "start": bool(frame.start),
        "end": bool(frame.end),
        "spatial_id": frame.spatial_id,
        "temporal_id": frame.temporal_id,
        "switch_to": [layer for layer in range(<int>MAX_TEMPORAL) if layers >> layer & 1],
        "opens": [layer for layer in range(<int>MAX_SPATIAL) if opens >> layer & 1],
        "dependencies": [frame.dependencies[i] for i in range(frame.dependency_count)],
    }
