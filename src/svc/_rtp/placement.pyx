"""Finds a packet's media section and encoding (part of step 5 of a packet's journey).

The header extensions in a source's first packet identify both. Later packets are assigned by SSRC. See RFC
8843 section 9.2 (mid), RFC 8852 (rid), RFC 4588 (RTX).
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcmp, memset

from svc._rtp.core cimport fall_due, random32
from svc._rtp.forwarder cimport restart
from svc._rtp.header cimport Extension, Header, find
from svc._rtp.keyframes cimport request
from svc._rtp.objects cimport (
    AUDIO, MAX_EARLIER, MAX_SOURCES, PAYLOAD_RTX, PAYLOAD_UNKNOWN, VIDEO, EarlierSource, MediaSection, Source,
)

# A source that has been silent this long may be replaced (ns).
cdef int64_t SOURCE_IDLE = 5_000_000_000
cdef int64_t PLI_PERIOD_MS = 2000


cdef Forwarder* place(Core* core, Transport* transport, Slot* slot) noexcept nogil:
    """Return the forwarder for this packet's SSRC, or NULL if there is none."""
    cdef uint32_t ssrc = slot.header.ssrc
    cdef uint8_t payload_type = slot.header.payload_type
    cdef Source* source
    cdef MediaSection* section
    cdef Forwarder* forwarder
    cdef int i
    # SSRC 0 means none.
    if ssrc == 0 or core.negotiated.kind[payload_type] == PAYLOAD_UNKNOWN:
        return NULL
    for i in range(transport.source_count):
        source = &transport.sources[i]
        if source.ssrc == ssrc:
            source.last_packet = core.now
            if not transport.sections[source.forwarder.section].payload_types[payload_type]:
                return NULL
            return source.forwarder
    section = section_of(core, transport, slot)
    if section == NULL or section.forwarder == NULL or not section.payload_types[payload_type]:
        return NULL
    forwarder = encoding_of(core, section, slot)
    source = new_source(core, transport) if forwarder != NULL else NULL
    if source == NULL:
        return NULL
    source.ssrc = ssrc
    source.forwarder = forwarder
    source.last_packet = core.now
    if core.negotiated.kind[payload_type] != PAYLOAD_RTX:
        bind(core, transport, forwarder, &slot.header)
    return forwarder


cdef Forwarder* encoding_of(Core* core, const MediaSection* section, Slot* slot) noexcept nogil:
    """Return the encoding to which a packet in a media section's track belongs, or NULL if unknown.

    A packet without a rid has the encoding that its SSRC had earlier. A sender that negotiated several
    encodings but never sends a rid has only one encoding.
    """
    cdef Forwarder* first = section.forwarder
    cdef const EarlierSource* earlier = earlier_source(section, slot.header.ssrc)
    cdef bint repeats = core.negotiated.kind[slot.header.payload_type] == PAYLOAD_RTX
    cdef const Extension* rid
    cdef Forwarder* forwarder = first
    if first.simulcast == NULL:
        return first
    rid = find(&slot.header, core.negotiated.repaired_rid_id if repeats else core.negotiated.rid_id)
    while forwarder != NULL:
        if rid == NULL and earlier != NULL:
            if forwarder.spatial_layer == earlier.encoding:
                return forwarder
        elif rid == NULL:
            if forwarder != first and forwarder.ssrc:
                return NULL
        elif (rid.length == forwarder.rid_length
                and memcmp(slot.data + rid.offset, forwarder.rid, forwarder.rid_length) == 0):
            return forwarder
        forwarder = forwarder.next_encoding
    return first if rid == NULL else NULL


cdef const EarlierSource* earlier_source(const MediaSection* section, uint32_t ssrc) noexcept nogil:
    """Return the earlier use of this SSRC in this media section, or NULL if there was none."""
    cdef int i
    for i in range(MAX_EARLIER):
        if section.earlier[i].ssrc == ssrc:
            return &section.earlier[i]
    return NULL


cdef MediaSection* section_of(Core* core, Transport* transport, Slot* slot) noexcept nogil:
    """Find the media section by the packet's mid, or else by the SSRCs in the answer or in earlier
    packets.
    """
    cdef const Extension* extension = find(&slot.header, core.negotiated.mid_id)
    cdef MediaSection* section
    cdef int i, k
    for i in range(transport.section_count):
        section = &transport.sections[i]
        if extension != NULL:
            if (extension.length == section.mid_length
                    and memcmp(slot.data + extension.offset, section.mid, section.mid_length) == 0):
                return section
            continue
        if (section.forwarder != NULL and section.forwarder.simulcast != NULL
                and earlier_source(section, slot.header.ssrc)):
            return section
        for k in range(MAX_SOURCES):
            if section.ssrcs[k] == 0:
                break
            if section.ssrcs[k] == slot.header.ssrc:
                return section
    return NULL


cdef Source* new_source(Core* core, Transport* transport) noexcept nogil:
    """Return a free entry, or else the entry of the source that has been silent longest, if it has been
    silent long enough.
    """
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
    """Start receiving in a media section, or restart under another SSRC."""
    cdef int64_t highest = forwarder.reception.highest
    if forwarder.ssrc:
        restart(core, forwarder, True)
        # The loss of packets before the first packet cannot be detected, so only a keyframe is a safe start.
        # If this packet starts a keyframe, it clears the request.
        if forwarder.kind == VIDEO:
            request(&forwarder.keyframes, core.now, False)
    memset(&forwarder.reception, 0, sizeof(forwarder.reception))
    # Extended numbers never repeat, even if the sender changes.
    forwarder.reception.highest = highest
    forwarder.reception.is_audio = forwarder.kind == AUDIO
    forwarder.ssrc = header.ssrc
    forwarder.keyframes.next_periodic = first_pli(core, forwarder)
    forwarder.last_sr_at = 0
    fall_due(core, core.now, 0)
    forwarder.reported_at = 0


cdef int64_t first_pli(Core* core, const Forwarder* forwarder) noexcept nogil:
    """Return the time at which to first request a keyframe from a source (ns). It is the same for all
    encodings of a track.

    Some senders answer a PLI for one encoding with a keyframe of every encoding.
    """
    cdef const Forwarder* other
    cdef int i
    if forwarder.simulcast != NULL:
        for i in range(forwarder.simulcast.count):
            other = forwarder.simulcast.encodings[i]
            if other != forwarder and other.keyframes.next_periodic > core.now:
                return other.keyframes.next_periodic
    # "timers at random phase", so that the PLIs to many publishers are not sent at the same time.
    return core.now + <int64_t>(random32(core) % PLI_PERIOD_MS) * 1_000_000


cdef void remember_sources(Transport* transport, MediaSection* section) noexcept nogil:
    """Remember the encoding of each SSRC in a media section.

    A browser that stops a track and later sends it again reuses the SSRCs without identifying their encodings
    again.
    """
    cdef const Source* source
    cdef int i, k
    for i in range(transport.source_count):
        source = &transport.sources[i]
        if &transport.sections[source.forwarder.section] != section:
            continue
        for k in range(MAX_EARLIER):
            if section.earlier[k].ssrc == source.ssrc:
                break
        else:
            k = section.earlier_next
            section.earlier_next = <uint8_t>((k + 1) % MAX_EARLIER)
        section.earlier[k].ssrc = source.ssrc
        section.earlier[k].encoding = source.forwarder.spatial_layer


cdef void name_encodings(MediaSection* section, const uint32_t* ssrcs, int count) noexcept nogil:
    """Assign SSRCs to each encoding, alternating between media and RTX, because packets on a link have
    neither mid nor rid.
    """
    cdef int i
    for i in range(min(count, <int>MAX_EARLIER)):
        section.earlier[i].ssrc = ssrcs[i]
        section.earlier[i].encoding = <uint8_t>(i // 2)
