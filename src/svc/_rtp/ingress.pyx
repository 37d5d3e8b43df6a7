"""Turns a received datagram into an authenticated packet on its track.

Answers binding requests. Reports STUN responses, DTLS datagrams, and new paths and tracks to Python as
events. Authenticates media, assigns it to its media section (`placement`), and hands it over to `forwarder`.
Counts and drops invalid datagrams. See RFC 7983 (demux), RFC 8445 section 7.3 (checks), RFC 4588.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc
from libc.string cimport memcmp, memset

from svc._rtp.address cimport Address, hash_address, hash_bytes, same, same_path
from svc._rtp.authenticity cimport authenticate, authenticate_from_elsewhere, link_of
from svc._rtp.core cimport PATIENCE, fall_due
from svc._rtp.demux cimport DTLS, RTCP, RTP, STUN, Kind, demux
from svc._rtp.egress_batch cimport Outgoing, commit, next_outgoing
from svc._rtp.feedback cimport keyframe_received, request_keyframe, rtcp_received, report_speaking
from svc._rtp.forwarder cimport forward, restart, structure_received
from svc._rtp.frames cimport NOTHING, WHOLE_FRAME, WITH_STRUCTURE, FrameReader, Reading, read_frame, recall_frame
from svc._rtp.header cimport Extension, Header, find, parse
from svc._rtp.history cimport put
from svc._rtp.keyframes cimport Codec, starts_keyframe
from svc._rtp.loudness cimport heard, expires_at
from svc._rtp.objects cimport AUDIO, MAX_PATHS, PAYLOAD_RTX, VIDEO, Credentials, Forwarder
from svc._rtp.placement cimport place
from svc._rtp.pool cimport acquire, release, scarce
from svc._rtp.rate_reports cimport count_layer
from svc._rtp.reception cimport (
    DUPLICATE, LATE, RESTARTED, TOO_OLD, Arrival, Reception, is_missing, is_repeatable, set_clock_rate, update,
)
from svc._rtp.redundancy cimport MAX_RED_BLOCKS, RedBlock, read_red, unwrap_lost
from svc._rtp.event_ring cimport CHECK, DTLS as DTLS_EVENT, STUN as STUN_EVENT, TRACK, Event, is_half_full, push
from svc._rtp.path_liveness cimport note_sign_of_life
from svc._rtp.simulcast cimport encoding_received
from svc._rtp.streams cimport abandon, prove
from svc._rtp.stun cimport (
    BINDING_ERROR, BINDING_REQUEST, BINDING_SUCCESS, BindingRequest, message_type, read_request, verify, write_success,
)
from svc._rtp.table cimport insert, lookup, remove
from svc._rtp.twcc cimport ArrivalLog, record
from svc._rtp.wire cimport load16, load32

# The minimum time between two events for a sender that keeps changing its codec (ns).
cdef int64_t REPORT_INTERVAL = 500_000_000
cdef uint8_t NOTHING_REPORTED = 255
# The priority of a candidate learned from a packet (RFC 8445 section 5.1.2.1), until the peer's own check
# corrects it.
cdef uint32_t LEARNED_PRIORITY = (110 << 24) | (65535 << 8) | 255


cdef void received(Core* core, Slot* slot, const Path* path) noexcept nogil:
    """Classify the datagram (step 2) and find its transport (step 3)."""
    cdef Kind kind = demux(slot.data, slot.length)
    cdef Transport* transport
    if kind == STUN:
        stun_received(core, slot, path)
        return
    transport = transport_at(core, &path.remote)
    if transport == NULL and (kind == RTP or kind == RTCP):
        transport = link_of(core, slot, &path.remote, kind == RTCP)
    if transport == NULL:
        rebound(core, slot, path, kind)
        return
    note_sign_of_life(core, transport, &path.remote)
    if kind == RTP:
        if authenticate(core, transport, slot, False):
            rtp_received(core, transport, slot)
    elif kind == RTCP:
        if authenticate(core, transport, slot, True):
            rtcp_received(core, transport, slot.data, slot.length)
    elif kind == DTLS:
        tell(core, DTLS_EVENT, transport.id, path, slot.data, slot.length)
    else:
        core.counters.dropped_malformed += 1


cdef void rebound(Core* core, Slot* slot, const Path* path, Kind kind) noexcept nogil:
    """Accept media from an unknown address, because a NAT might have assigned a new address to a participant.

    A new packet that a participant's keys can decrypt is genuine, wherever it comes from, so it is used
    immediately. Python checks the path, and our media is sent over it only after a response.
    """
    cdef BindingRequest request
    cdef Transport* transport = NULL
    if (kind == RTP or kind == RTCP) and path.remote.stream == 0:
        transport = authenticate_from_elsewhere(core, slot, kind == RTCP)
    if transport == NULL:
        core.counters.dropped_unknown_source += 1
        return
    memset(&request, 0, sizeof(BindingRequest))
    request.priority = LEARNED_PRIORITY
    path_validated(core, transport, path, &request, generation_of_selected(transport))
    if kind == RTP:
        rtp_received(core, transport, slot)
    else:
        rtcp_received(core, transport, slot.data, slot.length)


cdef uint32_t generation_of_selected(const Transport* transport) noexcept nogil:
    cdef int i
    for i in range(transport.validated_count):
        if same_path(&transport.validated[i], &transport.selected):
            return transport.generations[i]
    return transport.generation


cdef Transport* transport_at(Core* core, const Address* source) noexcept nogil:
    cdef Transport* transport = <Transport*>lookup(&core.by_source, hash_address(source, core.hash_seed))
    cdef int i
    if transport != NULL:
        for i in range(transport.validated_count):
            if same(&transport.validated[i].remote, source):
                return transport
    return NULL


cdef bint tell(Core* core, int kind, uint32_t transport_id, const Path* path, const uint8_t* attached,
               size_t length) noexcept nogil:
    cdef Event event
    cdef bint reported
    memset(&event, 0, sizeof(Event))
    event.kind = <uint32_t>kind
    event.transport = transport_id
    event.length = <uint32_t>length
    event.path = path[0]
    if kind == STUN_EVENT:
        reported = push(&core.ice, &event, attached)
    else:
        # The other half is reserved for events that are sent only once, when media starts or a transport
        # closes.
        reported = not is_half_full(&core.events) and push(&core.events, &event, attached)
    if reported:
        return True
    core.counters.dropped_ring_full += 1
    return False


# --- STUN ---


cdef void stun_received(Core* core, Slot* slot, const Path* path) noexcept nogil:
    cdef uint16_t kind = message_type(slot.data, slot.length)
    cdef Transport* transport
    if kind == BINDING_REQUEST:
        request_received(core, slot, path)
    elif (kind == BINDING_SUCCESS or kind == BINDING_ERROR) and load32(slot.data + 8) == core.stun_tag:
        # This is a response to our request, because the transaction id contains our tag and the transport's
        # id.
        transport = transport_at(core, &path.remote)
        if transport != NULL:
            note_sign_of_life(core, transport, &path.remote)
        tell(core, STUN_EVENT, load32(slot.data + 12), path, slot.data, slot.length)
    else:
        core.counters.dropped_stun += 1


cdef void request_received(Core* core, Slot* slot, const Path* path) noexcept nogil:
    """Answer an authenticated check. Report a new path, a nomination or a role conflict to Python."""
    cdef BindingRequest request
    cdef Transport* transport = NULL
    cdef Credentials* credentials = NULL
    cdef Outgoing* outgoing
    if read_request(slot.data, slot.length, &request) == 0:
        transport = <Transport*>lookup(
            &core.by_ufrag, hash_bytes(request.username, request.username_length, core.hash_seed))
        credentials = credentials_for(transport, &request)
    if credentials == NULL or not verify(slot.data, &request, &credentials.key):
        core.counters.dropped_stun += 1
        return
    if request.controlling == transport.controlling:
        # The request has a role conflict, or does not state a role (RFC 8445 section 7.3.1.1). Python decides
        # which side changes its role.
        tell(core, STUN_EVENT, transport.id, path, slot.data, slot.length)
        return
    outgoing = next_outgoing(&core.egress)
    outgoing.path = path[0]
    commit(&core.egress, <int>write_success(outgoing.data, slot.data, &path.remote, &credentials.key))
    note_sign_of_life(core, transport, &path.remote)
    path_validated(core, transport, path, &request, credentials.generation)


cdef Credentials* credentials_for(Transport* transport, const BindingRequest* request) noexcept nogil:
    cdef Credentials* credentials
    cdef int i
    if transport != NULL:
        for i in range(transport.credentials_count):
            credentials = &transport.credentials[i]
            if (credentials.ufrag_length == request.username_length
                    and memcmp(credentials.ufrag, request.username, request.username_length) == 0):
                return credentials
    return NULL


cdef void path_validated(Core* core, Transport* transport, const Path* path, const BindingRequest* request,
                         uint32_t generation) noexcept nogil:
    """Accept media from this path. Report the path to Python once per generation, and again when it is
    nominated.
    """
    cdef int i, at
    if path.remote.stream:
        prove(core.streams, path.remote.stream)
    for i in range(transport.validated_count):
        if same_path(&transport.validated[i], path):
            if generation > transport.generations[i] or (generation == transport.generations[i] and (
                    (request.use_candidate and not transport.nominated[i])
                    or transport.priorities[i] != request.priority)):
                if report_check(core, transport, path, request, generation):
                    transport.nominated[i] = request.use_candidate
                    transport.priorities[i] = request.priority
                    transport.generations[i] = generation
            # Another participant might have used the address in the meantime.
            insert(&core.by_source, hash_address(&path.remote, core.hash_seed), transport)
            return
    if not report_check(core, transport, path, request, generation):
        # The event was lost. Do not remember the path either, so that the next check is reported.
        return
    if transport.validated_count == MAX_PATHS:
        at = MAX_PATHS - 1
        if transport.has_selected and same_path(&transport.validated[at], &transport.selected):
            at -= 1
        forget_path(core, transport, at)
    for i in range(transport.validated_count, 0, -1):
        transport.validated[i] = transport.validated[i - 1]
        transport.nominated[i] = transport.nominated[i - 1]
        transport.priorities[i] = transport.priorities[i - 1]
        transport.generations[i] = transport.generations[i - 1]
    transport.validated[0] = path[0]
    transport.nominated[0] = request.use_candidate
    transport.priorities[0] = request.priority
    transport.generations[0] = generation
    transport.validated_count += 1
    insert(&core.by_source, hash_address(&path.remote, core.hash_seed), transport)


cdef bint report_check(Core* core, Transport* transport, const Path* path, const BindingRequest* request,
                     uint32_t generation) noexcept nogil:
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = CHECK
    event.transport = transport.id
    event.a = request.priority
    event.b = <uint32_t>request.use_candidate
    event.c = generation
    event.path = path[0]
    if push(&core.ice, &event, NULL):
        return True
    core.counters.dropped_ring_full += 1
    return False


cdef void forget_path(Core* core, Transport* transport, int index) noexcept nogil:
    """Stop accepting datagrams from a validated path, unless another path has the same remote address."""
    cdef Address remote = transport.validated[index].remote
    cdef uint64_t key = hash_address(&remote, core.hash_seed)
    cdef int i
    for i in range(index, transport.validated_count - 1):
        transport.validated[i] = transport.validated[i + 1]
        transport.nominated[i] = transport.nominated[i + 1]
        transport.priorities[i] = transport.priorities[i + 1]
        transport.generations[i] = transport.generations[i + 1]
    transport.validated_count -= 1
    for i in range(transport.validated_count):
        if same(&transport.validated[i].remote, &remote):
            return
    if remote.stream:
        abandon(core.streams, remote.stream)
    # The address might belong to another participant now.
    if lookup(&core.by_source, key) == transport:
        remove(&core.by_source, key)


# --- RTCP and RTP ---


cdef void rtp_received(Core* core, Transport* transport, Slot* slot) noexcept nogil:
    """Read the header of a decrypted packet (step 5), then find the packet's track."""
    cdef const Extension* extension
    cdef Header* header = &slot.header
    cdef Forwarder* forwarder
    if not transport.sends:
        transport.sends = True
        transport.next_sender = core.senders
        core.senders = transport
    if parse(slot.data, slot.length, header) < 0:
        core.counters.dropped_malformed += 1
        return
    core.counters.packets_received += 1
    core.counters.bytes_received += slot.length
    extension = find(header, core.negotiated.twcc_id)
    if extension != NULL and extension.length >= 2:
        log_arrival(core, transport, load16(slot.data + extension.offset), slot)
    forwarder = place(core, transport, slot)
    if forwarder == NULL:
        core.counters.dropped_not_negotiated += 1
        return
    if core.negotiated.kind[header.payload_type] == PAYLOAD_RTX:
        if forwarder.ssrc == 0 or not unwrap_rtx(core, slot, forwarder):
            # This is a bandwidth probe: padding, or a copy of a packet that was sent before we knew the
            # track.
            return
        core.counters.retransmissions_received += 1
    elif header.ssrc != forwarder.ssrc:
        # Another source has replaced this packet's source in its media section.
        core.counters.dropped_not_negotiated += 1
        return
    elif header.payload_type == core.negotiated.red_type and core.negotiated.red_type and (
            not unwrap_red(core, forwarder, slot)):
        core.counters.dropped_malformed += 1
        return
    media_received(core, forwarder, slot)


cdef void log_arrival(Core* core, Transport* transport, uint16_t sequence, Slot* slot) noexcept nogil:
    if transport.arrivals == NULL:
        transport.arrivals = <ArrivalLog*>calloc(1, sizeof(ArrivalLog))
        if transport.arrivals == NULL:
            return
    record(transport.arrivals, sequence, slot.header.ssrc, slot.arrival)
    fall_due(core, transport.next_feedback, PATIENCE)


cdef void report_track(Core* core, Forwarder* forwarder) noexcept nogil:
    """Report the current source and codec of a media section. Retry later if the ring is full."""
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = TRACK
    event.transport = forwarder.transport.id
    event.a = forwarder.ssrc
    event.b = forwarder.payload_type
    event.c = forwarder.section
    forwarder.reported_at = core.now
    if push(&core.events, &event, NULL):
        forwarder.reported_payload_type = forwarder.payload_type
    else:
        forwarder.reported_payload_type = NOTHING_REPORTED
        core.counters.dropped_ring_full += 1


cdef bint unwrap_rtx(Core* core, Slot* slot, Forwarder* forwarder) noexcept nogil:
    """Turn a retransmission into the original packet (RFC 4588 section 4). Return False if it is only a
    probe.
    """
    cdef Header* header = &slot.header
    if header.payload_length < 2:
        return False
    header.sequence = load16(slot.data + header.payload_offset)
    if not is_repeatable(&forwarder.reception, header.sequence):
        # The packet is from a source that has been replaced. A new source never begins with a retransmission.
        return False
    header.payload_offset += 2
    header.payload_length -= 2
    header.payload_type = core.negotiated.media_of[header.payload_type]
    header.ssrc = forwarder.ssrc
    # Retransmissions have their own sequence numbers.
    slot.leapt = False
    return True


cdef bint unwrap_red(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Recover lost packets from a RED packet, then turn the RED packet into its primary (RFC 2198). Return
    False if it is malformed.
    """
    cdef Header* header = &slot.header
    cdef RedBlock blocks[MAX_RED_BLOCKS]
    cdef int count = read_red(slot.data + header.payload_offset, header.payload_length, blocks)
    cdef int i
    if count < 0 or blocks[count - 1].payload_type != core.negotiated.red_media_type:
        return False
    for i in range(count - 1):
        if blocks[i].payload_type == core.negotiated.red_media_type:
            recover(core, forwarder, slot, &blocks[i], <uint16_t>(header.sequence - (count - 1 - i)))
    header.payload_offset += blocks[count - 1].offset
    header.payload_length = blocks[count - 1].length
    header.payload_type = core.negotiated.red_media_type
    return True


cdef void recover(Core* core, Forwarder* forwarder, Slot* slot, const RedBlock* block, uint16_t sequence) noexcept nogil:
    """Forward a redundant block as the packet with this number, unless that packet has arrived."""
    cdef Reception* reception = &forwarder.reception
    cdef int64_t jitter = reception.jitter, transit = reception.transit
    cdef Slot* lost
    if slot.leapt or not is_missing(reception, sequence) or scarce(&core.pool):
        return
    lost = acquire(&core.pool)
    if lost == NULL:
        return
    if unwrap_lost(slot, block, sequence, lost):
        core.counters.audio_recovered += 1
        media_received(core, forwarder, lost)
        # Our reports to the sender still count the recovered packet as lost.
        reception.received -= 1
        reception.jitter = jitter
        reception.transit = transit
    release(&core.pool, lost)


cdef void media_received(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Account for the packet (step 6), then store and forward it."""
    cdef Header* header = &slot.header
    cdef Arrival arrival
    set_clock_rate(&forwarder.reception, core.negotiated.clock_rate[header.payload_type])
    arrival = update(&forwarder.reception, header.sequence, slot.leapt, header.timestamp, slot.arrival, core.now,
                     &slot.ext_seq)
    if arrival == DUPLICATE or arrival == TOO_OLD:
        core.counters.dropped_duplicate += 1
        return
    if forwarder.reception.missing_count:
        fall_due(core, forwarder.reception.next_nack, 0)
    if arrival == RESTARTED:
        restart(core, forwarder, False)
        request_keyframe(core, forwarder)
    forwarder.payload_type = header.payload_type
    if forwarder.reported_at == 0 or (forwarder.reported_payload_type != header.payload_type
                                  and core.now - forwarder.reported_at >= REPORT_INTERVAL):
        report_track(core, forwarder)
    forwarder.codec = <Codec>core.negotiated.codec[header.payload_type]
    slot.starts_keyframe = forwarder.kind == VIDEO and starts_keyframe(
        forwarder.codec, slot.data + header.payload_offset, header.payload_length)
    slot.late = arrival == LATE
    slot.from_history = False
    if slot.starts_keyframe:
        keyframe_received(core, forwarder)
        forwarder.reception.keyframe = max(forwarder.reception.keyframe, slot.ext_seq)
    if forwarder.kind == AUDIO:
        measure_loudness(core, forwarder, slot)
        slot.has_frame = False
    else:
        slot.has_frame = find_frame(core, forwarder, slot)
    count_layer(forwarder, slot)
    put(&forwarder.history, &core.pool, slot)
    forward(core, forwarder, slot)
    if forwarder.simulcast != NULL:
        encoding_received(core, forwarder, slot)


cdef void measure_loudness(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    cdef const Extension* extension = find(&slot.header, core.negotiated.level_id)
    if extension != NULL and extension.length >= 1 and not forwarder.muted:
        if heard(&forwarder.loudness, slot.data[extension.offset], core.now):
            report_speaking(core, forwarder)
            fall_due(core, expires_at(&forwarder.loudness), 0)


cdef bint find_frame(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Find the frame to which a packet belongs. Return False if the frame is unknown. The packet is then
    forwarded unchanged.
    """
    cdef const Extension* extension = find(&slot.header, core.negotiated.descriptor_id)
    cdef Reading reading
    if extension == NULL:
        return forwarder.frames != NULL and recall_frame(forwarder.frames, slot.header.timestamp, &slot.frame)
    if forwarder.frames == NULL:
        forwarder.frames = <FrameReader*>calloc(1, sizeof(FrameReader))
        if forwarder.frames == NULL:
            return False
    reading = read_frame(
        forwarder.frames, slot.data + extension.offset, extension.length, slot.header.timestamp, &slot.frame)
    if reading == WITH_STRUCTURE:
        structure_received(forwarder)
    elif reading != WHOLE_FRAME:
        core.counters.descriptors_unread += 1
    return reading != NOTHING
