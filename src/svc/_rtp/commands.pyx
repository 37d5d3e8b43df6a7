"""Applies Python's commands, which open, link, change and close the core's objects.

Commands find objects by id. A command for an id that no longer exists does nothing, because Python may refer
to a transport that the core has just closed. Runs only on the core's thread, between batches. Packets waiting
for a closed receiver are dropped. Decisions are made in sfu/session and sfu/rooms.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from svc._rtp.address cimport Path, hash_bytes, mix
from svc._rtp.authenticity cimport forget_links, forget_sources, link_sources
from svc._rtp.congestion cimport forget_bandwidth, number_packets, want_bandwidth
from svc._rtp.core cimport fall_due, queue_of, random32
from svc._rtp.delivery cimport send_waiting
from svc._rtp.egress_batch cimport OUTGOING_BYTES, Outgoing, commit, next_outgoing
from svc._rtp.feedback cimport ask_for_keyframe, request_keyframe, send_bye
from svc._rtp.forwarder cimport limit_spatial, start_in_history
from svc._rtp.frames cimport max_spatial_layer
from svc._rtp.history cimport AUDIO_HISTORY, VIDEO_HISTORY
from svc._rtp.history cimport clear as clear_history, init as init_history
from svc._rtp.ingress cimport forget_path
from svc._rtp.layers cimport ALL_LAYERS, set_target
from svc._rtp.layers cimport clear as clear_selector, init as init_selector
from svc._rtp.objects cimport (
    AUDIO, MAX_SECTIONS, VIDEO, Credentials, DownTrack, Forwarder, MediaSection, Sent, Simulcast, Transport,
)
from svc._rtp.paced_transports cimport forget_pacer
from svc._rtp.paced_admission cimport set_paced
from svc._rtp.placement cimport name_encodings, remember_sources
from svc._rtp.event_ring cimport CLOSED, Event, push
from svc._rtp.sendqueue cimport forget as forget_waiting
from svc._rtp.sequence cimport clear as clear_rewriter, init as init_rewriter
from svc._rtp.path_liveness cimport report_silence
from svc._rtp.simulcast cimport best, choose, report_encoding
from svc._rtp.table cimport insert, lookup, remove

cdef extern from *:
    """
    #ifdef __GNUC__
    #pragma GCC diagnostic warning "-Wswitch-enum"
    #endif
    """

# Initial number of sent packets remembered per receiver. `delivery` increases it if packets are sent so fast
# that a NACK might still request the oldest packet.
cdef int64_t FIRST_SENT = 256
# The number of bytes that may be resent before any credit has been earned: one small keyframe.
cdef int64_t FIRST_RESEND_CREDIT = 32768


cdef void free_command(Command* command) noexcept nogil:
    free(command.data)
    free(command)


cdef inline uint64_t key_of(uint32_t object_id) noexcept nogil:
    return mix(object_id)


cdef void apply(Core* core, Command* command) noexcept nogil:
    """Apply one command. The caller still owns the command's memory. The compiler warns if this function
    omits a kind of command.
    """
    cdef CommandKind kind = command.kind
    cdef void* target = lookup(&core.by_id, key_of(command.id))
    cdef Transport* transport = <Transport*>target
    if target == NULL and kind > SEND_STUN:
        return
    if kind == OPEN_TRANSPORT:
        open_transport(core, command)
    elif kind == OPEN_DOWN_TRACK:
        if target == NULL:
            open_down_track(core, command)
    elif kind == SEND_STUN:
        send(core, &command.path, command)
    elif kind == CLOSE_TRANSPORT:
        close_transport(core, transport)
    elif kind == SET_CREDENTIALS:
        set_credentials(core, transport, command)
    elif kind == SET_CONTROLLING:
        transport.controlling = command.flag
    elif kind == SELECT:
        if command.flag:
            transport.is_link = True
            link_sources(core, transport, command.ssrcs)
        select(core, transport, &command.path)
    elif kind == SEND_DTLS:
        if transport.has_selected:
            send(core, &transport.selected, command)
        elif transport.validated_count:
            send(core, &transport.validated[0], command)
    elif kind == SET_KEYS:
        transport.inbound = command.inbound
        transport.outbound = command.outbound
        transport.keyed = True
        begin_receiving(core, transport)
    elif kind == OPEN_SECTION:
        open_section(core, transport, command)
    elif kind == CLOSE_FORWARDER:
        close_forwarder(core, <Forwarder*>target)
    elif kind == SET_MUTED:
        (<Forwarder*>target).muted = command.flag
    elif kind == SET_DEAFENED:
        transport.deafened = <uint8_t>command.flag
    elif kind == CLOSE_DOWN_TRACK:
        close_down_track(core, <DownTrack*>target)
    elif kind == SET_LAYER:
        set_target(&(<DownTrack*>target).layers, command.number)
    elif kind == SET_SPATIAL_LAYER:
        limit_encodings(core, <DownTrack*>target, command.number, command.flag)
    elif kind == SET_PAUSED:
        set_paused(core, <DownTrack*>target, command.flag)
    elif kind == SET_PACED:
        set_paced(core, <DownTrack*>target, command.flag)
    elif kind == WANT_BANDWIDTH:
        want_bandwidth(core, transport, command.rate)


cdef void select(Core* core, Transport* transport, const Path* path) noexcept nogil:
    """Send on this path from now on. The waiting packets are sent first, because another thread may serve the
    new path.
    """
    cdef uint32_t shard = core.stream_shard if path.remote.stream else transport.packet_shard
    cdef DownTrack* down_track = transport.down_tracks
    while shard != transport.shard and down_track != NULL:
        # The paced queue belongs to no shard.
        if not down_track.paced:
            send_waiting(core, down_track)
            forget_waiting(queue_of(core, down_track), &core.records, &core.pool, down_track)
        down_track = down_track.next_received
    transport.shard = <uint8_t>shard
    transport.selected = path[0]
    transport.heard_at = core.now
    transport.silent = False
    if not transport.has_selected:
        transport.has_selected = True
        begin_receiving(core, transport)


cdef void begin_receiving(Core* core, Transport* transport) noexcept nogil:
    """Start each track that this participant receives. Until now, nothing has been forwarded to the
    participant.
    """
    cdef DownTrack* down_track = transport.down_tracks
    # No report about this participant's own tracks has been sent yet either.
    fall_due(core, core.now, 0)
    while down_track != NULL and transport.keyed and transport.has_selected:
        begin_track(core, down_track)
        down_track = down_track.next_received


cdef void begin_track(Core* core, DownTrack* down_track) noexcept nogil:
    """Start a track with the selected encoding's last keyframe, or request a keyframe."""
    report_encoding(core, down_track)
    choose(core, down_track)
    if not down_track.switched_off and not start_in_history(core, down_track):
        request_keyframe(core, down_track.forwarder)


cdef void send(Core* core, const Path* path, Command* command) noexcept nogil:
    cdef Outgoing* outgoing
    if command.length > OUTGOING_BYTES:
        core.counters.dropped_oversized += 1
        return
    outgoing = next_outgoing(&core.egress)
    outgoing.path = path[0]
    memcpy(outgoing.data, command.data, command.length)
    commit(&core.egress, <int>command.length)


# --- transports ---


cdef void open_transport(Core* core, Command* command) noexcept nogil:
    cdef Transport* transport = <Transport*>calloc(1, sizeof(Transport))
    if transport == NULL:
        return
    transport.id = command.id
    transport.rtcp_ssrc = command.ssrc
    transport.controlling = True
    transport.shard = transport.packet_shard = <uint8_t>(core.next_shard % core.packet_shards)
    core.next_shard += 1
    transport.next = core.transports
    if core.transports != NULL:
        core.transports.previous = transport
    core.transports = transport
    insert(&core.by_id, key_of(transport.id), transport)


cdef void set_credentials(Core* core, Transport* transport, Command* command) noexcept nogil:
    """Start a new ICE generation. The previous generation stays valid until the next one."""
    cdef Credentials* newest = &transport.credentials[0]
    if transport.credentials_count == 2:
        forget_credentials(core, transport, 1)
    transport.credentials[1] = transport.credentials[0]
    memcpy(newest.ufrag, command.name, command.name_length)
    newest.ufrag_length = command.name_length
    newest.key = command.key
    transport.generation += 1
    newest.generation = transport.generation
    transport.credentials_count += 1
    insert(&core.by_ufrag, hash_bytes(newest.ufrag, newest.ufrag_length, core.hash_seed), transport)


cdef void forget_credentials(Core* core, Transport* transport, int index) noexcept nogil:
    cdef Credentials* credentials = &transport.credentials[index]
    remove(&core.by_ufrag, hash_bytes(credentials.ufrag, credentials.ufrag_length, core.hash_seed))
    transport.credentials_count -= 1


cdef void close_transport(Core* core, Transport* transport) noexcept nogil:
    """Close a transport with everything that it sends and receives."""
    cdef Transport** link = &core.senders
    cdef Event event
    cdef int i
    for i in range(transport.section_count):
        if transport.sections[i].forwarder != NULL:
            close_forwarder(core, transport.sections[i].forwarder)
    while transport.down_tracks != NULL:
        close_down_track(core, transport.down_tracks)
    while transport.validated_count:
        forget_path(core, transport, transport.validated_count - 1)
    while transport.credentials_count:
        forget_credentials(core, transport, transport.credentials_count - 1)
    remove(&core.by_id, key_of(transport.id))
    if transport.previous != NULL:
        transport.previous.next = transport.next
    else:
        core.transports = transport.next
    if transport.next != NULL:
        transport.next.previous = transport.previous
    while link[0] != NULL and link[0] != transport:
        link = &link[0].next_sender
    if link[0] != NULL:
        link[0] = transport.next_sender
    memset(&event, 0, sizeof(Event))
    event.kind = CLOSED
    event.transport = transport.id
    if not push(&core.events, &event, NULL):
        # If this event is lost, Python keeps the keys until it exits, which is a harmless leak.
        core.counters.dropped_ring_full += 1
    forget_sources(core, transport)
    forget_links(core, transport)
    forget_pacer(core, transport)
    forget_bandwidth(core, transport)
    free(transport.arrivals)
    free(transport)


cdef void forget_stream(Core* core, uint32_t stream_id) noexcept nogil:
    """Handle the end of a connection. If it was a participant's path, make the participant try another path
    immediately.
    """
    cdef Transport* transport = core.transports
    cdef int i
    while transport != NULL:
        for i in range(transport.validated_count - 1, -1, -1):
            if transport.validated[i].remote.stream == stream_id:
                forget_path(core, transport, i)
        if transport.has_selected and transport.selected.remote.stream == stream_id and not transport.silent:
            transport.silent = report_silence(core, transport, True)
        transport = transport.next


cdef void close_everything(Core* core) noexcept nogil:
    """Close every transport without events. The core is being destroyed, and its keys might no longer
    exist.
    """
    cdef Transport* transport = core.transports
    while transport != NULL:
        transport.keyed = False
        transport = transport.next
    while core.transports != NULL:
        close_transport(core, core.transports)


# --- media sections and forwarders ---


cdef void open_section(Core* core, Transport* transport, Command* command) noexcept nogil:
    """Accept media from the participant in a media section, or change which media the section accepts."""
    cdef MediaSection* section
    cdef int at = 0
    while at < transport.section_count and (
            transport.sections[at].mid_length != command.name_length
            or memcmp(transport.sections[at].mid, command.name, command.name_length) != 0):
        at += 1
    if at == MAX_SECTIONS:
        return
    section = &transport.sections[at]
    if at == transport.section_count:
        memset(section, 0, sizeof(MediaSection))
        transport.section_count += 1
        memcpy(section.mid, command.name, command.name_length)
        section.mid_length = command.name_length
    section.kind = VIDEO if command.flag else AUDIO
    memcpy(section.payload_types, command.payload_types, sizeof(section.payload_types))
    memcpy(section.ssrcs, command.ssrcs, sizeof(section.ssrcs))
    if section.forwarder == NULL:
        section.forwarder = new_forwarder(core, transport, <uint8_t>at, section.kind)
        if section.forwarder == NULL:
            return
        section.forwarder.id = command.other
        insert(&core.by_id, key_of(command.other), section.forwarder)
    if command.rid_count > 1 and section.forwarder.simulcast == NULL:
        open_encodings(core, section.forwarder, command)
        if transport.is_link:
            name_encodings(section, command.ssrcs, 2 * command.rid_count)


cdef void open_encodings(Core* core, Forwarder* first, Command* command) noexcept nogil:
    """Create a forwarder for each encoding. Create fewer if memory runs out."""
    cdef Simulcast* simulcast = <Simulcast*>calloc(1, sizeof(Simulcast))
    cdef Forwarder* forwarder = first
    cdef int i
    if simulcast == NULL:
        return
    for i in range(command.rid_count):
        if i > 0:
            forwarder.next_encoding = new_forwarder(core, first.transport, first.section, first.kind)
            forwarder = forwarder.next_encoding
        if forwarder == NULL:
            return
        forwarder.simulcast = simulcast
        forwarder.spatial_layer = <uint8_t>i
        memcpy(forwarder.rid, command.rids[i], command.rid_lengths[i])
        forwarder.rid_length = command.rid_lengths[i]
        simulcast.encodings[i] = forwarder
        simulcast.count += 1


cdef Forwarder* new_forwarder(Core* core, Transport* transport, uint8_t section, int kind) noexcept nogil:
    cdef Forwarder* forwarder = <Forwarder*>calloc(1, sizeof(Forwarder))
    if forwarder == NULL:
        return NULL
    if init_history(&forwarder.history, VIDEO_HISTORY if kind == VIDEO else AUDIO_HISTORY) < 0:
        free(forwarder)
        return NULL
    forwarder.transport = transport
    forwarder.section = section
    forwarder.kind = VIDEO if kind == VIDEO else AUDIO
    return forwarder


cdef void close_forwarder(Core* core, Forwarder* forwarder) noexcept nogil:
    """End a track, together with its down tracks and its sources."""
    cdef Transport* transport = forwarder.transport
    cdef Forwarder* encoding = forwarder
    cdef int i, kept = 0
    # Receivers also refer to encodings that they got earlier, so remove the receivers of all encodings first.
    while encoding != NULL:
        while encoding.down_tracks != NULL:
            close_down_track(core, encoding.down_tracks)
        encoding = encoding.next_encoding
    if forwarder.simulcast != NULL:
        remember_sources(transport, &transport.sections[forwarder.section])
    for i in range(transport.source_count):
        if transport.sources[i].forwarder.section != forwarder.section:
            transport.sources[kept] = transport.sources[i]
            kept += 1
    transport.source_count = <uint8_t>kept
    transport.sections[forwarder.section].forwarder = NULL
    remove(&core.by_id, key_of(forwarder.id))
    free(forwarder.simulcast)
    while forwarder != NULL:
        encoding = forwarder.next_encoding
        clear_history(&forwarder.history, &core.pool)
        free(forwarder.frames)
        free(forwarder)
        forwarder = encoding


# --- down tracks ---


cdef void open_down_track(Core* core, Command* command) noexcept nogil:
    """Start forwarding a track to a participant, beginning with a keyframe."""
    cdef Forwarder* forwarder = <Forwarder*>lookup(&core.by_id, key_of(command.other))
    cdef Transport* transport = <Transport*>lookup(&core.by_id, key_of(command.third))
    cdef DownTrack* down_track
    cdef int64_t window
    if forwarder == NULL or transport == NULL:
        return
    window = VIDEO_HISTORY if forwarder.kind == VIDEO else AUDIO_HISTORY
    down_track = <DownTrack*>calloc(1, sizeof(DownTrack))
    if down_track == NULL:
        return
    down_track.sent_mask = min(window, FIRST_SENT) - 1
    down_track.sent = <Sent*>malloc(<size_t>(down_track.sent_mask + 1) * sizeof(Sent))
    if down_track.sent == NULL or init_rewriter(&down_track.numbers, window) < 0:
        free(down_track.sent)
        free(down_track)
        return
    fill_down_track(core, down_track, command)
    if command.number and forwarder.simulcast != NULL and command.number <= forwarder.simulcast.count:
        forwarder = forwarder.simulcast.encodings[command.number - 1]
        down_track.pinned = True
    down_track.forwarder = forwarder
    down_track.transport = transport
    # `wide_id` never changes after this, because a plain resend repeats the header.
    down_track.wide_id = command.wide_id if command.wide_id and number_packets(core, transport) else 0
    down_track.next_sent = forwarder.down_tracks
    forwarder.down_tracks = down_track
    down_track.next_received = transport.down_tracks
    transport.down_tracks = down_track
    insert(&core.by_id, key_of(down_track.id), down_track)
    if transport.keyed and transport.has_selected:
        # Otherwise begin_receiving starts the track later, because a keyframe that arrives before the keys is
        # useless.
        begin_track(core, down_track)


cdef void fill_down_track(Core* core, DownTrack* down_track, Command* command) noexcept nogil:
    cdef int i
    down_track.id = command.id
    down_track.ssrc = command.ssrc
    down_track.rtx_ssrc = command.rtx_ssrc
    for i in range(128):
        if command.payload_types[i]:
            down_track.payload_types[i >> 6] |= <uint64_t>1 << (i & 63)
    memcpy(down_track.ext_ids, command.ext_ids, sizeof(down_track.ext_ids))
    down_track.mixed = <uint8_t>command.flag
    memcpy(down_track.mid, command.name, command.name_length)
    down_track.mid_length = command.name_length
    down_track.mid_id = command.mid_id
    memcpy(down_track.cname, command.cname, command.cname_length)
    down_track.cname_length = command.cname_length
    init_selector(&down_track.layers)
    down_track.max_spatial = ALL_LAYERS
    down_track.waiting = True
    down_track.rtx_index = random32(core) & 0x7FFF
    down_track.resend_credit = FIRST_RESEND_CREDIT


cdef void set_paused(Core* core, DownTrack* down_track, bint paused) noexcept nogil:
    """Pause a track for a receiver, or resume it with a keyframe. Idempotent."""
    if down_track.switched_off == <uint8_t>paused:
        return
    # Queued packets already have numbers, so the receiver would NACK any that were dropped.
    send_waiting(core, down_track)
    down_track.switched_off = <uint8_t>paused
    down_track.waiting = True
    down_track.waiting_since = 0
    down_track.held_request = 0
    choose(core, down_track)
    if not paused and down_track.transport.keyed and not start_in_history(core, down_track):
        ask_for_keyframe(core, down_track)


cdef void limit_encodings(Core* core, DownTrack* down_track, uint8_t limit, bint at_once) noexcept nogil:
    """Set the largest encoding of a track to forward, and the highest spatial layer within each encoding.

    With `at_once`, send no larger encoding while waiting for the keyframe of a smaller one.
    """
    cdef Simulcast* simulcast = down_track.forwarder.simulcast
    cdef Forwarder* target = NULL if simulcast == NULL else best(simulcast, limit)
    down_track.max_spatial = limit
    limit_spatial(down_track.forwarder, down_track)
    if not down_track.waiting and rises(down_track):
        ask_for_keyframe(core, down_track)
    if (at_once and target != NULL and target.spatial_layer < down_track.forwarder.spatial_layer
            and not down_track.waiting):
        # The downlink is congested, and the larger encoding would keep it full until the keyframe arrives.
        send_waiting(core, down_track)
        down_track.waiting = True
        down_track.waiting_since = 0
    choose(core, down_track)


cdef bint rises(const DownTrack* down_track) noexcept nogil:
    """Return whether a receiver is waiting for a higher spatial layer within the stream that it gets."""
    cdef uint8_t highest = max_spatial_layer(down_track.forwarder.frames)
    return down_track.layers.spatial < min(down_track.layers.max_spatial, highest)


cdef void close_down_track(Core* core, DownTrack* down_track) noexcept nogil:
    cdef DownTrack** link = &down_track.forwarder.down_tracks
    forget_waiting(queue_of(core, down_track), &core.records, &core.pool, down_track)
    send_bye(core, down_track)
    while link[0] != down_track:
        link = &link[0].next_sent
    link[0] = down_track.next_sent
    link = &down_track.transport.down_tracks
    while link[0] != down_track:
        link = &link[0].next_received
    link[0] = down_track.next_received
    remove(&core.by_id, key_of(down_track.id))
    clear_rewriter(&down_track.numbers)
    clear_selector(&down_track.layers)
    free(down_track.splices)
    free(down_track.sent)
    free(down_track)
