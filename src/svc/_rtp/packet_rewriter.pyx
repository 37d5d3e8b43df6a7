"""Rewrites the Dependency Descriptor, the marker and the picture ids of a packet for one receiver.

A resent packet gets the same bytes, because everything that determines them is stored with its number. A
receiver that gets all layers of a single encoding gets these fields unchanged. Makes no decisions. See the
AV1 RTP specification, appendix A; RFC 7741, RFC 9628.
"""

from libc.stdint cimport uint16_t, uint32_t
from libc.string cimport memcpy

from svc._rtp.descriptor cimport MAX_DESCRIPTOR, DependencyDescriptor, decode_targets_up_to
from svc._rtp.descriptor_writer cimport write_with_active_decode_targets
from svc._rtp.frames cimport FrameReader, read_again
from svc._rtp.header cimport Extension, find
from svc._rtp.keyframes cimport Codec
from svc._rtp.objects cimport END_PICTURE, KEEP_BITMASK, NO_MARKS, SPATIAL_SHIFT, Forwarder
from svc._rtp.picture cimport Picture, read_picture, write_picture
from svc._rtp.splices cimport source_of, splice_of
from svc._rtp.wire cimport load16, store16


cdef void replace_descriptor(Core* core, DownTrack* down_track, Slot* slot, const Sent* sent, Rewrite* rewrite,
                             uint8_t* out) noexcept nogil:
    """Write the descriptor with this receiver's decode targets and frame numbers.

    The last packet of the receiver's picture gets the marker.
    """
    cdef const Splice* splice = splice_of(down_track, sent)
    cdef uint16_t frame_offset = splice.frame_offset if splice != NULL else 0
    cdef const Extension* extension
    cdef int length = 0
    if sent.layer_marks == NO_MARKS and frame_offset == 0:
        return
    if sent.layer_marks & END_PICTURE:
        rewrite.marker = True
    extension = find(&slot.header, core.negotiated.descriptor_id)
    if extension == NULL:
        return
    if not sent.layer_marks & KEEP_BITMASK:
        length = cut_descriptor(source_of(down_track, splice), slot, extension, sent.layer_marks, out)
        # With the extra bytes, the descriptor would not fit into the one-byte form, and this receiver does
        # not accept the two-byte form.
        if length > 16 and not down_track.mixed:
            length = 0
    if length == 0 and frame_offset and extension.length >= 3:
        length = extension.length
        memcpy(out, slot.data + extension.offset, extension.length)
    if length == 0:
        return
    # The frame number follows the first byte in every descriptor.
    store16(out + 1, <uint16_t>(load16(out + 1) + frame_offset))
    rewrite.replaced = extension
    rewrite.replacement = out
    rewrite.replacement_length = <uint8_t>length


cdef int cut_descriptor(const Forwarder* forwarder, Slot* slot, const Extension* extension, uint8_t marks,
                        uint8_t* out) noexcept nogil:
    """Limit the active decode targets to those of the receiver (AV1 RTP, A.4). Return the length, or 0 if
    nothing changes.
    """
    cdef FrameReader* frames = forwarder.frames
    cdef DependencyDescriptor descriptor
    cdef uint32_t targets
    if frames == NULL or read_again(frames, slot.data + extension.offset, extension.length, &descriptor) < 0:
        return 0
    targets = frames.active_decode_targets & decode_targets_up_to(
        descriptor.structure, marks >> SPATIAL_SHIFT & 7, marks & 7)
    if targets == 0:
        return 0
    return <int>max(write_with_active_decode_targets(&descriptor, targets, out, MAX_DESCRIPTOR), 0)


cdef size_t replace_pictures(Core* core, const Slot* slot, const Splice* splice, uint8_t* out) noexcept nogil:
    """Write the start of the payload with the receiver's picture ids. Return the number of bytes replaced."""
    cdef Picture picture
    cdef const uint8_t* payload = slot.data + slot.header.payload_offset
    if splice.picture_offset == 0 and splice.tl0_offset == 0:
        return 0
    # Use the packet's own codec, because the sender may have changed codecs since.
    read_picture(<Codec>core.negotiated.codec[slot.header.payload_type], payload, slot.header.payload_length, &picture)
    write_picture(&picture, payload, splice.picture_offset, splice.tl0_offset, out)
    return picture.length
