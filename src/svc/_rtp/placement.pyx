"""Places a packet on a line of its sender, and on an encoding there; a part of step 5 of a packet's journey.

The first packet of a source names both, by its header extensions; those after it are known by their SSRC. RFC 8843
section 9.2 (mid), RFC 8852 (rid), RFC 4588 (RTX).
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcmp, memset

from svc._rtp.core cimport fall_due, random32
from svc._rtp.forwarder cimport restart
from svc._rtp.header cimport Extension, Header, find
from svc._rtp.keyframes cimport request
from svc._rtp.objects cimport AUDIO, MAX_SOURCES, PAYLOAD_RTX, PAYLOAD_UNKNOWN, VIDEO, Line, Source

# A source that has been silent this long may make room for another (ns).
cdef int64_t SOURCE_IDLE = 5_000_000_000
cdef int64_t PLI_PERIOD_MS = 2000


cdef Forwarder* place(Core* core, Transport* transport, Slot* slot) noexcept nogil:
    """The forwarder that this packet's SSRC belongs to, NULL when there is none."""
    cdef uint32_t ssrc = slot.header.ssrc
    cdef uint8_t payload_type = slot.header.payload_type
    cdef Source* source
    cdef Line* line
    cdef Forwarder* forwarder
    cdef int i
    # SSRC 0 stands for none.
    if ssrc == 0 or core.negotiated.kind[payload_type] == PAYLOAD_UNKNOWN:
        return NULL
    for i in range(transport.source_count):
        source = &transport.sources[i]
        if source.ssrc == ssrc:
            source.last_packet = core.now
            if not transport.lines[source.forwarder.line].payload_types[payload_type]:
                return NULL
            return source.forwarder
    line = line_of(core, transport, slot)
    if line == NULL or line.forwarder == NULL or not line.payload_types[payload_type]:
        return NULL
    forwarder = encoding_of(core, line.forwarder, slot)
    source = new_source(core, transport) if forwarder != NULL else NULL
    if source == NULL:
        return NULL
    source.ssrc = ssrc
    source.forwarder = forwarder
    source.last_packet = core.now
    if core.negotiated.kind[payload_type] != PAYLOAD_RTX:
        bind(core, transport, forwarder, &slot.header)
    return forwarder


cdef Forwarder* encoding_of(Core* core, Forwarder* first, Slot* slot) noexcept nogil:
    """The encoding of a line's track that the packet names; NULL where it names none of them.

    A sender that names none, although it has agreed to send several, has one.
    """
    cdef bint repeats = core.negotiated.kind[slot.header.payload_type] == PAYLOAD_RTX
    cdef const Extension* rid
    cdef Forwarder* forwarder = first
    if first.simulcast == NULL:
        return first
    rid = find(&slot.header, core.negotiated.repaired_rid_id if repeats else core.negotiated.rid_id)
    while forwarder != NULL:
        if rid == NULL:
            if forwarder != first and forwarder.ssrc:
                return NULL
        elif (rid.length == forwarder.rid_length
                and memcmp(slot.data + rid.offset, forwarder.rid, forwarder.rid_length) == 0):
            return forwarder
        forwarder = forwarder.next_encoding
    return first if rid == NULL else NULL


cdef Line* line_of(Core* core, Transport* transport, Slot* slot) noexcept nogil:
    """By the mid that the packet carries, else by the SSRCs that the answer listed."""
    cdef const Extension* extension = find(&slot.header, core.negotiated.mid_id)
    cdef Line* line
    cdef int i, k
    for i in range(transport.line_count):
        line = &transport.lines[i]
        if extension != NULL:
            if (extension.length == line.mid_length
                    and memcmp(slot.data + extension.offset, line.mid, line.mid_length) == 0):
                return line
            continue
        for k in range(MAX_SOURCES):
            if line.ssrcs[k] == 0:
                break
            if line.ssrcs[k] == slot.header.ssrc:
                return line
    return NULL


cdef Source* new_source(Core* core, Transport* transport) noexcept nogil:
    """A free place, or that of the source silent longest, if it has been silent long enough."""
    cdef Source* oldest = &transport.sources[0]
    cdef int i
    if transport.source_count < MAX_SOURCES:
        transport.source_count += 1
        return &transport.sources[transport.source_count - 1]
    for i in range(1, MAX_SOURCES):
        if transport.sources[i].last_packet < oldest.last_packet:
            oldest = &transport.sources[i]
    return oldest if core.now - oldest.last_packet > SOURCE_IDLE else NULL


cdef void bind(Core* core, Transport* transport, Forwarder* forwarder, const Header* header) noexcept nogil:
    """Begin to receive media on a line, or begin again under another SSRC."""
    cdef int64_t highest = forwarder.reception.highest
    if forwarder.ssrc:
        restart(core, forwarder, True)
        # Unless this packet starts it: a lost one before the first that came is missed by nobody.
        if forwarder.kind == VIDEO:
            request(&forwarder.keyframes, core.now, False)
    memset(&forwarder.reception, 0, sizeof(forwarder.reception))
    # No extended number comes twice, whoever sends.
    forwarder.reception.highest = highest
    forwarder.reception.is_audio = forwarder.kind == AUDIO
    forwarder.ssrc = header.ssrc
    forwarder.keyframes.next_periodic = first_pli(core, forwarder)
    forwarder.last_sr_at = 0
    fall_due(core, core.now, 0)
    forwarder.told_at = 0


cdef int64_t first_pli(Core* core, const Forwarder* forwarder) noexcept nogil:
    """When a source is first asked for a keyframe, ns: all encodings of a track together.

    Some senders answer a PLI for one encoding with a keyframe of each.
    """
    cdef const Forwarder* other
    cdef int i
    if forwarder.simulcast != NULL:
        for i in range(forwarder.simulcast.count):
            other = forwarder.simulcast.encodings[i]
            if other != forwarder and other.keyframes.next_periodic > core.now:
                return other.keyframes.next_periodic
    # "timers at random phase": many publishers' PLIs do not fall together.
    return core.now + <int64_t>(random32(core) % PLI_PERIOD_MS) * 1_000_000
