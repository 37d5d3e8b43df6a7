"""Engine: the core as one object, which turns datagrams and `now` into datagrams and events.

Has no socket, thread or clock. It is driven by udploop in production, and manually in tests and simulations.
Python's methods only post commands, which apply_commands executes on the core's thread.
"""

from libc.math cimport llround
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from svc._rtp.address cimport Path, path_from_text, to_text
from svc._rtp.atomics cimport compare_exchange, exchange, load_acquire
from svc._rtp.collector cimport Outlet, collect
from svc._rtp.commands cimport (
    CLOSE_DOWN_TRACK, CLOSE_FORWARDER, CLOSE_TRANSPORT, OPEN_DOWN_TRACK, OPEN_SECTION, OPEN_TRANSPORT, SELECT,
    SEND_DTLS, SEND_STUN, SET_CONTROLLING, SET_CREDENTIALS, SET_DEAFENED, SET_KEYS, SET_LAYER, SET_MUTED, SET_PAUSED,
    SET_PACED, SET_SPATIAL_LAYER, WANT_BANDWIDTH, CommandKind, apply, close_everything, free_command,
)
from svc._rtp.congestion cimport probe_downlinks
from svc._rtp.core cimport MAX_SHARDS, fall_due, is_blocked, is_pending, is_waiting
from svc._rtp.delivery cimport drain, shed
from svc._rtp.egress_batch cimport Egress, flush
from svc._rtp.egress_batch cimport clear as clear_egress, init as init_egress
from svc._rtp.feedback cimport tick as tick_transport
from svc._rtp.ingress cimport received
from svc._rtp.keyframes cimport AV1, H264, OTHER, VP8, VP9
from svc._rtp.objects cimport (
    MAX_CNAME, MAX_ENCODINGS, MAX_MID, MAX_RID, MAX_SOURCES, MAX_UFRAG, PAYLOAD_AUDIO, PAYLOAD_RTX, PAYLOAD_VIDEO, Counters, Transport,
)
from svc._rtp.pool cimport MAX_DATAGRAM, Slot, acquire, destroy, release
from svc._rtp.rate_reports cimport report_rates
from svc._rtp.event_ring cimport (
    BANDWIDTH, CHECK, CLOSED, DTLS, ENCODING, FORWARDED, RATES, SILENT, SPEAKING, STUN, TRACK, Event, Ring, peek, pop,
)
from svc._rtp.event_ring cimport clear as clear_ring, init as init_ring
from svc._rtp.sendqueue cimport destroy as destroy_records
from svc._rtp.sha1 cimport hmac_key
from svc._rtp.path_liveness cimport watch_paths
from svc._rtp.srtp cimport SrtpKeys
from svc._rtp.table cimport clear as clear_table, init as init_table

# The longest time that the thread sleeps when idle (ns). Idle histories are emptied within this time.
cdef int64_t MAX_SLEEP_NS = 500_000_000
# While packets wait to be sent, late packets are dropped this often (ns).
cdef int64_t SHED_INTERVAL = 10_000_000
cdef enum:
    ICE_RING = 1 << 18
    EVENT_RING = 1 << 20
    DETAIL_RING = 1 << 18

EVENT_NAMES = {CHECK: "check", STUN: "stun", DTLS: "dtls", TRACK: "track", CLOSED: "closed", SPEAKING: "speaking",
               FORWARDED: "forwarded", SILENT: "silent", BANDWIDTH: "bandwidth",
               RATES: "rates", ENCODING: "encoding"}
# The upper bounds of the forwarding-delay histogram's buckets, in seconds. The last bucket has no bound.
DELAY_BUCKETS = tuple(50e-6 * 2**i for i in range(11))


cdef dict counter_names():
    """Return the names of the counter struct's fields."""
    cdef Counters none
    memset(&none, 0, sizeof(Counters))
    return none


COUNTERS = tuple(counter_names())


cdef void discard(void* context, Egress* egress) noexcept nogil:
    egress.count = 0


cdef fill_ssrcs(Command* command, ssrcs):
    for i, ssrc in enumerate(list(ssrcs)[:MAX_SOURCES]):
        command.ssrcs[<int>i] = ssrc


cdef fill_rids(Command* command, list rids):
    cdef bytes name
    for i, rid in enumerate(rids):
        name = rid.encode("ascii")[:<Py_ssize_t>MAX_RID]
        memcpy(command.rids[<int>i], <const char*>name, <size_t>len(name))
        command.rid_lengths[<int>i] = <uint8_t>len(name)
    command.rid_count = <uint8_t>len(rids)


cdef class Engine:
    """The core as one object. See engine.pyi for the contract of each method."""

    def __cinit__(self, *, uint64_t seed, **_ignored):
        cdef Core* core = &self.core
        memset(core, 0, sizeof(Core))
        self.posted = NULL
        self.last_id = 0
        self.keys = {}
        core.hash_seed = seed
        core.random_state = (seed ^ <uint64_t>0x9E3779B97F4A7C15) | 1
        core.stun_tag = <uint32_t>(seed >> 32)
        if (init_egress(&core.egress, discard, NULL, &core.counters.dropped_send_failed) < 0
                or init_table(&core.by_id) < 0 or init_table(&core.by_source) < 0 or init_table(&core.by_ufrag) < 0
                or init_table(&core.by_ssrc) < 0
                or init_ring(&core.ice, ICE_RING) < 0 or init_ring(&core.events, EVENT_RING) < 0
                or init_ring(&core.details, DETAIL_RING) < 0):
            raise MemoryError
        core.shard_count = core.packet_shards = 1
        core.shards[0].egress = &core.egress

    def __dealloc__(self):
        cdef int i
        # Send nothing, because the context of flush and the owner of the keys may no longer exist.
        self.core.egress.flush = discard
        for i in range(MAX_SHARDS):
            clear_egress(&self.core.shards[i].handed_over)
        self.discard_commands()
        close_everything(&self.core)
        clear_egress(&self.core.egress)
        clear_table(&self.core.by_id)
        clear_table(&self.core.by_source)
        clear_table(&self.core.by_ufrag)
        clear_table(&self.core.by_ssrc)
        clear_ring(&self.core.ice)
        clear_ring(&self.core.events)
        clear_ring(&self.core.details)
        destroy_records(&self.core.records)
        destroy(&self.core.pool)

    # --- the core's thread ---

    cdef void discard_commands(self) noexcept nogil:
        cdef Command* command = <Command*>exchange(&self.posted, NULL)
        cdef Command* following
        while command != NULL:
            following = command.next
            free_command(command)
            command = following

    cdef void apply_commands(self) noexcept nogil:
        """Apply the posted commands in order."""
        cdef Command* newest = <Command*>exchange(&self.posted, NULL)
        cdef Command* oldest = NULL
        cdef Command* following
        while newest != NULL:
            following = newest.next
            newest.next = oldest
            oldest = newest
            newest = following
        while oldest != NULL:
            following = oldest.next
            apply(&self.core, oldest)
            free_command(oldest)
            oldest = following

    cdef void end_turn(self) noexcept nogil:
        """Send a quantum of packets. `is_pending` shows whether more can be sent.

        Each iteration starts with another shard, so a full interface does not always hit the same receivers.
        """
        self.core.first_shard = (self.core.first_shard + 1) % self.core.shard_count
        if is_blocked(&self.core):
            # The kernel might accept data again.
            self.flush_all()
        drain(&self.core)
        self.flush_all()
        if is_waiting(&self.core):
            # Packets that can be sent keep the thread awake, so only blocked packets need a deadline.
            fall_due(&self.core, self.core.now + SHED_INTERVAL, 0 if is_blocked(&self.core) else MAX_SLEEP_NS)

    cdef void flush_all(self) noexcept nogil:
        cdef uint32_t i
        flush(&self.core.egress)
        for i in range(self.core.shard_count):
            flush(self.core.shards[(self.core.first_shard + i) % self.core.shard_count].egress)

    cdef void tick(self, int64_t now) noexcept nogil:
        """Send all RTCP that is due to senders, and schedule the next tick.

        Transports that only receive are not visited, except to check whether their paths are alive.
        """
        cdef Transport* transport = self.core.senders
        self.core.now = self.core.ticked = now
        self.core.next_tick = self.core.deadline = now + MAX_SLEEP_NS
        while transport != NULL:
            tick_transport(&self.core, transport)
            transport = transport.next_sender
        shed(&self.core)
        probe_downlinks(&self.core)
        watch_paths(&self.core)
        report_rates(&self.core)

    # --- commands ---

    cdef Command* new_command(self, int kind, uint32_t object_id) except NULL:
        cdef Command* command = <Command*>calloc(1, sizeof(Command))
        if command == NULL:
            raise MemoryError
        command.kind = <CommandKind>kind
        command.id = object_id
        return command

    cdef void post(self, Command* command) noexcept:
        cdef void* before
        while True:
            before = <void*>load_acquire(<size_t*>&self.posted)
            command.next = <Command*>before
            if compare_exchange(&self.posted, before, command):
                # The core owns the command from now on and might already have freed it.
                if before == NULL:
                    self.wake()
                return

    cdef void wake(self) noexcept:
        """Do nothing, because a manual engine applies posted commands at its next step."""

    def _next_id(self):
        self.last_id += 1
        return self.last_id

    def negotiate(self, *, payloads, int mid_id, int twcc_id, int level_id, int descriptor_id, forwarded_ids,
                  int rid_id=0, int repaired_rid_id=0, tuple red=(0, 0)):
        cdef int payload_type
        codecs = {"H264": H264, "VP8": VP8, "VP9": VP9, "AV1": AV1}
        for payload_type, kind, name, clock_rate, rtx in payloads:
            self.core.negotiated.kind[payload_type] = PAYLOAD_VIDEO if kind == "video" else PAYLOAD_AUDIO
            self.core.negotiated.codec[payload_type] = codecs.get(name, OTHER)
            self.core.negotiated.clock_rate[payload_type] = clock_rate
            if rtx is not None:
                self.core.negotiated.kind[<int>rtx] = PAYLOAD_RTX
                self.core.negotiated.media_of[<int>rtx] = <uint8_t>payload_type
                self.core.negotiated.rtx_of[payload_type] = rtx
        self.core.negotiated.mid_id = <uint8_t>mid_id
        self.core.negotiated.twcc_id = <uint8_t>twcc_id
        self.core.negotiated.level_id = <uint8_t>level_id
        self.core.negotiated.descriptor_id = <uint8_t>descriptor_id
        self.core.negotiated.rid_id, self.core.negotiated.repaired_rid_id = <uint8_t>rid_id, <uint8_t>repaired_rid_id
        self.core.negotiated.red_type, self.core.negotiated.red_media_type = red
        for ext_id in forwarded_ids:
            self.core.negotiated.forwarded[<int>ext_id] = 1

    def set_verbose(self, bint verbose):
        self.core.verbose = verbose

    def open_transport(self, unsigned int rtcp_ssrc) -> int:
        transport = self._next_id()
        cdef Command* command = self.new_command(OPEN_TRANSPORT, transport)
        command.ssrc = rtcp_ssrc
        self.post(command)
        return transport

    def transaction_prefix(self, unsigned int transport) -> bytes:
        return int(self.core.stun_tag).to_bytes(4, "big") + int(transport).to_bytes(4, "big")

    def set_credentials(self, unsigned int transport, str ufrag, str pwd):
        cdef bytes name = ufrag.encode("ascii")
        cdef bytes secret = pwd.encode("ascii")
        if not 4 <= len(name) <= MAX_UFRAG:
            raise ValueError("our ufrag must have 4 to 32 characters")
        cdef Command* command = self.new_command(SET_CREDENTIALS, transport)
        memcpy(command.name, <const char*>name, <size_t>len(name))
        command.name_length = <uint8_t>len(name)
        hmac_key(&command.key, secret)
        self.post(command)

    cdef _set_flag(self, int kind, uint32_t object_id, bint flag):
        cdef Command* command = self.new_command(kind, object_id)
        command.flag = flag
        self.post(command)

    def set_controlling(self, unsigned int transport, bint controlling):
        self._set_flag(SET_CONTROLLING, transport, controlling)

    def select(self, unsigned int transport, tuple remote, str local, ssrcs=()):
        cdef Path path
        path_from_text(&path, remote, local)
        cdef Command* command = self.new_command(SELECT, transport)
        command.path, command.flag = path, bool(ssrcs)
        fill_ssrcs(command, ssrcs)
        self.post(command)

    def send_stun(self, bytes data, tuple remote, str local):
        cdef Path path
        path_from_text(&path, remote, local)
        self._send(SEND_STUN, 0, data, &path)

    def send_dtls(self, unsigned int transport, bytes data):
        self._send(SEND_DTLS, transport, data, NULL)

    cdef _send(self, int kind, uint32_t object_id, bytes data, Path* path):
        cdef Command* command = self.new_command(kind, object_id)
        command.length = <size_t>len(data)
        command.data = <uint8_t*>malloc(command.length + 1)
        if command.data == NULL:
            free(command)
            raise MemoryError
        memcpy(command.data, <const char*>data, command.length)
        if path != NULL:
            command.path = path[0]
        self.post(command)

    def set_keys(self, unsigned int transport, str profile, bytes local, bytes remote):
        cdef SrtpKeys keys = SrtpKeys(profile, local, remote)
        if transport in self.keys:
            raise ValueError("a transport gets its keys once")
        cdef Command* command = self.new_command(SET_KEYS, transport)
        self.keys[transport] = keys
        command.inbound = keys.inbound
        command.outbound = keys.outbound
        self.post(command)

    def open_section(self, unsigned int transport, unsigned int forwarder, str mid, str kind, payload_types,
                     ssrcs, rids=()):
        """Accept media in a media section. Return the forwarder's id. See engine.pyi."""
        cdef bytes name = mid.encode("ascii")
        if not 1 <= len(name) <= MAX_MID:
            raise ValueError("a mid has 1 to 16 characters")
        if not forwarder:
            forwarder = self._next_id()
        cdef Command* command = self.new_command(OPEN_SECTION, transport)
        command.other = forwarder
        command.flag = kind == "video"
        memcpy(command.name, <const char*>name, <size_t>len(name))
        command.name_length = <uint8_t>len(name)
        for payload_type in payload_types:
            command.payload_types[<int>payload_type & 127] = 1
        fill_ssrcs(command, ssrcs)
        fill_rids(command, list(rids)[:<Py_ssize_t>MAX_ENCODINGS])
        self.post(command)
        return forwarder

    def open_down_track(self, unsigned int forwarder, unsigned int transport, *, str mid, int mid_id,
                        unsigned int ssrc, unsigned int rtx_ssrc, payload_types, extension_ids, bint mixed, str cname,
                        int encoding=-1):
        cdef bytes name = mid.encode("ascii")
        cdef bytes source = cname.encode("ascii")
        if len(name) > MAX_MID or len(source) > MAX_CNAME:
            raise ValueError("a mid has at most 16 characters, a CNAME 64")
        down_track = self._next_id()
        cdef Command* command = self.new_command(OPEN_DOWN_TRACK, down_track)
        command.other = forwarder
        command.third = transport
        command.number = <uint8_t>(encoding + 1)
        command.ssrc = ssrc
        command.rtx_ssrc = rtx_ssrc
        command.flag = mixed
        memcpy(command.name, <const char*>name, <size_t>len(name))
        command.name_length = <uint8_t>len(name)
        command.mid_id = <uint8_t>mid_id
        memcpy(command.cname, <const char*>source, <size_t>len(source))
        command.cname_length = <uint8_t>len(source)
        for payload_type in payload_types:
            command.payload_types[<int>payload_type & 127] = 1
        for ext_id in extension_ids:
            if self.core.negotiated.forwarded[<int>ext_id & 255]:
                command.ext_ids[<int>ext_id & 255] = ext_id
            elif ext_id == self.core.negotiated.twcc_id:
                command.wide_id = ext_id
        self.post(command)
        return down_track

    def close_transport(self, unsigned int transport):
        self.post(self.new_command(CLOSE_TRANSPORT, transport))

    def close_forwarder(self, unsigned int forwarder):
        self.post(self.new_command(CLOSE_FORWARDER, forwarder))

    def close_down_track(self, unsigned int down_track):
        self.post(self.new_command(CLOSE_DOWN_TRACK, down_track))

    def set_muted(self, unsigned int forwarder, bint muted):
        self._set_flag(SET_MUTED, forwarder, muted)

    def set_deafened(self, unsigned int transport, bint deafened):
        self._set_flag(SET_DEAFENED, transport, deafened)

    def set_layer(self, unsigned int down_track, unsigned int layer):
        cdef Command* command = self.new_command(SET_LAYER, down_track)
        command.number = <uint8_t>layer
        self.post(command)

    def set_spatial_layer(self, unsigned int down_track, int layer, bint at_once=False):
        cdef Command* command = self.new_command(SET_SPATIAL_LAYER, down_track)
        command.number = <uint8_t>layer
        command.flag = at_once
        self.post(command)

    def set_paused(self, unsigned int down_track, bint paused):
        self._set_flag(SET_PAUSED, down_track, paused)

    def set_paced(self, unsigned int down_track, bint paced):
        self._set_flag(SET_PACED, down_track, paced)

    def want_bandwidth(self, unsigned int transport, double up_to):
        cdef Command* command = self.new_command(WANT_BANDWIDTH, transport)
        command.rate = up_to
        self.post(command)

    # --- events and counters ---

    def take_events(self) -> list:
        events = []
        self._drain_ring(&self.core.ice, events)
        self._drain_ring(&self.core.events, events)
        self._drain_ring(&self.core.details, events)
        return events

    cdef _drain_ring(self, Ring* ring, list events):
        cdef Event* event = peek(ring)
        cdef bytes attached
        while event != NULL:
            attached = (<const char*>event + sizeof(Event))[:event.length]
            if event.kind == CLOSED:
                self.keys.pop(event.transport, None)
            events.append((EVENT_NAMES[event.kind], event.transport, attached, to_text(&event.path.remote),
                           to_text(&event.path.local)[0], event.a, event.b, event.c))
            pop(ring)
            event = peek(ring)

    def counters(self) -> dict:
        return self.core.counters


class ManualEngine(Engine):
    """An Engine for manual control in tests and simulations. Times are in seconds, addresses are tuples."""

    def __init__(self, *, seed, shards=1):
        self._outlet = Outlet()
        _collect_into(self, self._outlet, shards)

    def receive(self, bytes data, tuple remote, str local, double now):
        """Process one datagram, after applying all posted commands."""
        _receive(self, data, remote, local, llround(now * 1e9))

    def advance(self, double now):
        """Do all work that is due by `now`, after applying all posted commands."""
        _advance(self, llround(now * 1e9))

    def next_deadline(self) -> float:
        """Return the latest time for the next call to advance, if nothing arrives earlier."""
        return _deadline(self) / 1e9

    def take_datagrams(self) -> list:
        """Return the datagrams sent since the last call: (data, (remote ip, port), local ip)."""
        return self._outlet.take()

    def limit(self, room):
        """Accept only this many datagrams from now on, like a full socket. None means no limit."""
        self._outlet.limit(room)


cdef _collect_into(Engine engine, Outlet outlet, uint32_t shards):
    cdef Core* core = &engine.core
    cdef uint32_t i
    core.egress.flush = collect
    core.egress.context = <void*>outlet
    if shards == 1:
        return
    core.shard_count = core.packet_shards = shards
    for i in range(shards):
        core.shards[i].egress = &core.shards[i].handed_over
        if init_egress(core.shards[i].egress, collect, <void*>outlet, &core.counters.dropped_send_failed) < 0:
            raise MemoryError


cdef _send_all(Engine engine):
    """Run as many iterations as necessary, without any input."""
    engine.end_turn()
    while is_pending(&engine.core):
        engine.end_turn()


cdef _receive(Engine engine, bytes data, tuple remote, str local, int64_t now):
    cdef Path path
    cdef Slot* slot
    path_from_text(&path, remote, local)
    if len(data) > MAX_DATAGRAM:
        engine.core.counters.dropped_oversized += 1
        return
    engine.core.now = now
    engine.apply_commands()
    slot = acquire(&engine.core.pool)
    if slot == NULL:
        engine.core.counters.dropped_pool_exhausted += 1
        return
    memcpy(slot.data, <const char*>data, <size_t>len(data))
    slot.length = <uint16_t>len(data)
    slot.arrival = now
    received(&engine.core, slot, &path)
    _send_all(engine)
    release(&engine.core.pool, slot)


cdef int64_t _deadline(Engine engine) noexcept:
    return engine.core.deadline


cdef _advance(Engine engine, int64_t now):
    engine.core.now = now
    engine.apply_commands()
    if now >= engine.core.next_tick:
        engine.tick(now)
    _send_all(engine)
