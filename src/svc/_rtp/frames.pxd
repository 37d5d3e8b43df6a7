"""FrameReader: the descriptor state of one received stream, and what it says of each packet's frame."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from svc._rtp.descriptor cimport DependencyDescriptor, FrameDependencyStructure
from svc._rtp.layers cimport Frame

cdef enum:
    # Frames whose timestamp is remembered, for packets of theirs that carry no descriptor.
    RECENT = 16


cdef struct RecentFrame:
    uint32_t timestamp
    Frame frame


cdef struct FrameReader:    # 12 KB; a track has one once its first descriptor has come
    # A late packet may refer to the structure before the newest.
    FrameDependencyStructure structures[2]
    uint8_t newest          # index of the newest structure
    bint known[2]
    int64_t structure_frame[2]  # the frame that each came with
    int64_t highest         # extended frame_number; 0 = no frame yet
    uint32_t active_decode_targets  # the sender's bitmask in force
    RecentFrame recent[RECENT]
    uint8_t next_recent
    FrameDependencyStructure attached   # scratch: what the packet at hand attaches


cdef enum Reading:          # what a descriptor told
    NOTHING
    NUMBER_ONLY             # it refers to a structure that has not come, or is malformed
    WHOLE_FRAME


cdef Reading read_frame(FrameReader* reader, const uint8_t* data, uint8_t length, uint32_t timestamp,
                        Frame* frame) noexcept nogil
cdef bint recall_frame(FrameReader* reader, uint32_t timestamp, Frame* frame) noexcept nogil
cdef int read_again(FrameReader* reader, const uint8_t* data, uint8_t length,
                    DependencyDescriptor* descriptor) noexcept nogil
