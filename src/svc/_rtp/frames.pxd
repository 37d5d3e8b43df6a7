"""FrameReader: keeps the descriptor state of one received stream, and reads each packet's frame."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from svc._rtp.descriptor cimport DependencyDescriptor, FrameDependencyStructure
from svc._rtp.layers cimport Frame

cdef enum:
    # The number of frames whose timestamps are remembered, for later packets without a descriptor.
    RECENT = 16


cdef struct RecentFrame:
    uint32_t timestamp
    Frame frame


cdef struct FrameReader:    # 12 KB; allocated with a track's first descriptor
    # Late packets may refer to the previous structure.
    FrameDependencyStructure structures[2]
    uint8_t newest          # index of the newest structure
    bint known[2]
    int64_t structure_frame[2]  # frame number at which each structure arrived
    int64_t highest         # extended frame_number, or 0 if there is no frame yet
    uint32_t active_decode_targets  # the sender's current bitmask
    RecentFrame recent[RECENT]
    uint8_t next_recent
    FrameDependencyStructure attached   # scratch: the structure attached to the current packet


cdef enum Reading:          # result of reading a descriptor
    NOTHING
    NUMBER_ONLY             # malformed, or it refers to a structure that has not arrived
    WHOLE_FRAME
    WITH_STRUCTURE          # WHOLE_FRAME, and the packet attaches a structure


cdef Reading read_frame(FrameReader* reader, const uint8_t* data, uint8_t length, uint32_t timestamp,
                        Frame* frame) noexcept nogil
cdef uint8_t max_spatial_layer(const FrameReader* reader) noexcept nogil
cdef bint recall_frame(FrameReader* reader, uint32_t timestamp, Frame* frame) noexcept nogil
cdef int read_again(FrameReader* reader, const uint8_t* data, uint8_t length,
                    DependencyDescriptor* descriptor) noexcept nogil
