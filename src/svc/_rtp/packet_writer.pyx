"""Writes and encrypts one packet for one receiver: media, a resend, or padding.

The bytes sent under one SSRC and index are the same each time, because the header and its extensions are
written from the packet's `Sent`. This module decides neither which packets are sent nor when. See RFC 3550,
RFC 4588 (RTX); docs/security.md, the encryption invariant.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from svc._rtp.core cimport egress_of
from svc._rtp.descriptor cimport MAX_DESCRIPTOR
from svc._rtp.egress_batch cimport Outgoing, commit, next_outgoing
from svc._rtp.header cimport Header, Rewrite, write
from svc._rtp.history cimport get
from svc._rtp.objects cimport VIDEO, Splice
from svc._rtp.picture cimport MAX_PICTURE
from svc._rtp.packet_rewriter cimport replace_descriptor, replace_pictures
from svc._rtp.redundancy cimport MAX_RED_PREFIX, write_red_prefix
from svc._rtp.sent_packets cimport forget_timing, note_sent
from svc._rtp.splices cimport splice_of
from svc._rtp.srtp cimport Plaintext, seal
from svc._rtp.wire cimport store16


cdef int send(Core* core, DownTrack* down_track, Slot* slot, Sent* sent) noexcept nogil:
    """Write the packet for this receiver. The same `sent` always yields the same bytes."""
    cdef Outgoing* outgoing = next_outgoing(egress_of(core, down_track))
    cdef const Splice* splice = splice_of(down_track, sent)
    cdef uint8_t descriptor[MAX_DESCRIPTOR]
    cdef uint8_t prefix[MAX_PICTURE]
    cdef Plaintext plaintext
    cdef Rewrite rewrite
    cdef bint repeated = sent.numbered
    if not repeated:
        sent.wide = <uint16_t>down_track.transport.wide.next_number
        sent.numbered = True
    elif down_track.wide_id:
        forget_timing(&down_track.transport.wide, sent.wide)
    fill(&rewrite, down_track, slot, sent.with_mid, splice)
    rewrite.wide = sent.wide
    rewrite.ssrc = down_track.ssrc
    rewrite.sequence = <uint16_t>sent.output
    rewrite.payload_type = slot.header.payload_type
    plaintext.prefix = prefix
    plaintext.prefix_length = 0
    plaintext.ssrc = rewrite.ssrc
    plaintext.index = <uint64_t>sent.output
    if sent.filler:
        return send_filler(core, down_track, outgoing, &rewrite, &plaintext, repeated)
    if sent.redundant:
        return send_redundant(core, down_track, outgoing, slot, &rewrite, &plaintext, repeated)
    replace_descriptor(core, down_track, slot, sent, &rewrite, descriptor)
    plaintext.header_length = write(outgoing.data, slot.data, &slot.header, &rewrite)
    return finish(core, down_track, outgoing, slot, &plaintext, prefix, splice, repeated)


cdef int send_filler(Core* core, DownTrack* down_track, Outgoing* outgoing, Rewrite* rewrite,
                     Plaintext* plaintext, bint repeated) noexcept nogil:
    """Write one byte of padding under the number of a packet that must not be sent (RFC 3550 section 5.1)."""
    cdef uint8_t padding = 1
    cdef Header header
    header.padding = 1
    header.extension_count = 0
    rewrite.marker = False
    plaintext.header_length = write(outgoing.data, NULL, &header, rewrite)
    plaintext.payload = &padding
    plaintext.payload_length = 1
    return hand_over(core, down_track, outgoing, plaintext, repeated)


cdef int send_redundant(Core* core, DownTrack* down_track, Outgoing* outgoing, Slot* slot, Rewrite* rewrite,
                        Plaintext* plaintext, bint repeated) noexcept nogil:
    """Write the packet as RED, preceded by the previous packet. A resend repeats the same previous packet, or
    is not sent.
    """
    cdef uint8_t prefix[MAX_RED_PREFIX]
    cdef const Slot* previous = get(&down_track.forwarder.history, slot.ext_seq - 1)
    if previous == NULL:
        return -1
    rewrite.payload_type = core.negotiated.red_type
    plaintext.header_length = write(outgoing.data, slot.data, &slot.header, rewrite)
    plaintext.prefix = prefix
    plaintext.prefix_length = write_red_prefix(slot, previous, prefix)
    plaintext.payload = slot.data + slot.header.payload_offset
    plaintext.payload_length = slot.header.payload_length
    core.counters.redundant_sent += not repeated
    return hand_over(core, down_track, outgoing, plaintext, repeated)


cdef inline void fill(Rewrite* rewrite, DownTrack* down_track, Slot* slot, bint with_mid,
                      const Splice* splice) noexcept nogil:
    rewrite.timestamp = slot.header.timestamp + (
        splice.timestamp_offset if splice != NULL else down_track.timestamp_offset)
    rewrite.marker = slot.header.marker
    rewrite.mixed = down_track.mixed
    rewrite.mid_id = down_track.mid_id if with_mid else 0
    rewrite.mid = down_track.mid
    rewrite.mid_length = down_track.mid_length
    rewrite.wide_id = down_track.wide_id
    rewrite.ext_ids = down_track.ext_ids
    rewrite.replaced = NULL


cdef int finish(Core* core, DownTrack* down_track, Outgoing* outgoing, Slot* slot, Plaintext* plaintext,
                uint8_t* prefix, const Splice* splice, bint repeated) noexcept nogil:
    """Encrypt the payload behind the header and hand the datagram over. Return its length, or -1.

    The payload is unchanged, except for the picture ids if the receiver was moved to another encoding. The
    changed picture ids are written to the end of `prefix`, which is encrypted first.
    """
    cdef size_t replaced
    plaintext.payload = slot.data + slot.header.payload_offset
    plaintext.payload_length = slot.length - slot.header.payload_offset
    if splice != NULL:
        replaced = replace_pictures(core, slot, splice, prefix + plaintext.prefix_length)
        plaintext.prefix_length += replaced
        plaintext.payload += replaced
        plaintext.payload_length -= replaced
    return hand_over(core, down_track, outgoing, plaintext, repeated)


cdef int hand_over(Core* core, DownTrack* down_track, Outgoing* outgoing, const Plaintext* plaintext,
                   bint repeated) noexcept nogil:
    """Encrypt the packet and add it to the batch. `repeated` means that its transport-wide number has already
    been sent.
    """
    cdef int total = seal(&down_track.transport.outbound, outgoing.data, plaintext)
    if total < 0:
        core.counters.dropped_send_failed += 1
        return -1
    outgoing.path = down_track.transport.selected
    commit(egress_of(core, down_track), total)
    if outgoing.path.remote.stream:
        outgoing.is_video = down_track.forwarder.kind == VIDEO
    if down_track.wide_id and not repeated:
        note_sent(&down_track.transport.wide, core.now, <uint32_t>total)
    core.counters.packets_sent += 1
    core.counters.bytes_sent += <uint32_t>total
    return total


# --- resends and probes ---


cdef int send_again(Core* core, DownTrack* down_track, Slot* slot, Sent* sent) noexcept nogil:
    """Send the packet on the RTX stream (RFC 4588 section 4). Without RTX, send the same bytes again."""
    cdef uint8_t payload_type = rtx_payload_type(core, down_track, slot)
    cdef const Splice* splice = splice_of(down_track, sent)
    cdef uint8_t prefix[2 + MAX_PICTURE]
    cdef uint8_t descriptor[MAX_DESCRIPTOR]
    cdef Outgoing* outgoing
    cdef Plaintext plaintext
    cdef Rewrite rewrite
    if sent.filler or payload_type == 0:
        return send(core, down_track, slot, sent)
    outgoing = next_outgoing(egress_of(core, down_track))
    fill(&rewrite, down_track, slot, sent.with_mid, splice)
    rewrite.ssrc = down_track.rtx_ssrc
    rewrite.wide = <uint16_t>down_track.transport.wide.next_number
    rewrite.sequence = <uint16_t>down_track.rtx_index
    rewrite.payload_type = payload_type
    replace_descriptor(core, down_track, slot, sent, &rewrite, descriptor)
    store16(prefix, <uint16_t>sent.output)
    plaintext.header_length = write(outgoing.data, slot.data, &slot.header, &rewrite)
    plaintext.prefix = prefix
    plaintext.prefix_length = 2
    plaintext.ssrc = rewrite.ssrc
    plaintext.index = <uint64_t>down_track.rtx_index
    down_track.rtx_index += 1
    return count_repeated(down_track, finish(core, down_track, outgoing, slot, &plaintext, prefix, splice, False))


cdef inline int count_repeated(DownTrack* down_track, int length) noexcept nogil:
    """Count a resend or a probe, because it shares the downlink with media, and return its length."""
    if length > 0:
        down_track.transport.repeated_bytes += <uint32_t>length
    return length


cdef int send_padding(Core* core, DownTrack* down_track, uint8_t payload_type, uint8_t padding) noexcept nogil:
    """Send padding on the RTX stream, where it does not disturb decoders. Return the datagram's length, or
    -1.
    """
    cdef Outgoing* outgoing = next_outgoing(egress_of(core, down_track))
    cdef uint8_t zeroes[255]
    cdef Plaintext plaintext
    cdef Rewrite rewrite
    cdef Header header
    memset(zeroes, 0, sizeof(zeroes))
    zeroes[padding - 1] = padding
    memset(&rewrite, 0, sizeof(Rewrite))
    header.padding = padding
    header.extension_count = 0
    rewrite.ssrc = down_track.rtx_ssrc
    rewrite.sequence = <uint16_t>down_track.rtx_index
    rewrite.timestamp = down_track.last_timestamp
    rewrite.payload_type = payload_type
    rewrite.ext_ids = down_track.ext_ids
    rewrite.mid_id = 0 if down_track.announced else down_track.mid_id
    rewrite.mid = down_track.mid
    rewrite.mid_length = down_track.mid_length
    rewrite.wide_id = down_track.wide_id
    rewrite.wide = <uint16_t>down_track.transport.wide.next_number
    rewrite.mixed = down_track.mixed
    plaintext.prefix_length = 0
    plaintext.ssrc = down_track.rtx_ssrc
    plaintext.index = <uint64_t>down_track.rtx_index
    plaintext.header_length = write(outgoing.data, NULL, &header, &rewrite)
    plaintext.payload = zeroes
    plaintext.payload_length = padding
    down_track.rtx_index += 1
    return count_repeated(down_track, hand_over(core, down_track, outgoing, &plaintext, False))
