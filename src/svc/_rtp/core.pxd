"""Core: contains all state of the core's thread, and is passed by pointer to the functions that use it."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from svc._rtp.egress_batch cimport Egress
from svc._rtp.objects cimport AUDIO, Counters, DownTrack, Negotiated, Transport
from svc._rtp.pool cimport Pool
from svc._rtp.event_ring cimport Ring
from svc._rtp.sendqueue cimport RecordPool, SendQueue
from svc._rtp.streams cimport Streams
from svc._rtp.table cimport Table

cdef enum:
    # The number of records to send before receiving datagrams again. A record takes about a microsecond, so
    # video delays reception and audio by at most a quarter of a millisecond.
    QUANTUM = 256
    # The number of one receiver's packets to send together. The kernel can segment this many from one
    # message.
    RUN = 64
    # The minimum time between ticks (ns), because each tick visits every sender.
    TICK_SPACING = 5_000_000
    # How long non-urgent work waits for a packet to wake the thread (ns). Every speaker sends a packet within
    # this time.
    PATIENCE = 20_000_000
    # One shard of receivers for each possible sending thread.
    MAX_SHARDS = 16


cdef struct Shard:          # the receivers whose media one thread sends
    Egress* egress          # `handed_over`, or the core's `egress` if the core's thread sends the media
    Egress handed_over
    SendQueue audio         # drained first
    SendQueue video


cdef struct Core:
    Pool pool
    Egress egress           # for all datagrams except media; used by the core's thread
    Shard shards[MAX_SHARDS]
    uint32_t shard_count
    uint32_t packet_shards  # number of shards, counted from the first, for receivers reached by UDP
    uint32_t stream_shard   # the shard for receivers reached by TCP, which uses the core's egress
    uint32_t next_shard     # for the next new transport
    uint32_t first_shard    # the shard served first in this iteration
    Negotiated negotiated
    Counters counters
    RecordPool records
    Streams* streams        # NULL if TCP is not served

    Transport* transports   # linked list
    Transport* senders      # linked list: transports that have sent media
    Transport* ready        # linked list: transports with paced packets that may be due now
    Transport* resting      # linked list: transports whose paced packets are not due before next_release
    int64_t next_release    # ns: when the resting transports are checked again
    Transport* probed       # linked list: transports whose downlinks may be probed
    int64_t next_probe      # ns: when downlinks are next considered for probing
    Table by_id             # transport, forwarder and down-track ids share one number space
    Table by_source         # validated remote addresses
    Table by_ufrag
    Table by_ssrc           # participants, by the SSRCs of their authenticated packets

    Ring ice                # CHECK and STUN. Separate, so that a flood of them cannot displace other events.
    Ring events             # DTLS, TRACK, CLOSED, SPEAKING
    Ring details            # FORWARDED, if `verbose` is set
    bint verbose

    uint64_t hash_seed      # random, so that peers cannot choose their positions in the tables
    uint64_t random_state
    uint32_t stun_tag       # first four bytes of all our transaction ids
    int64_t now             # ns, monotonic: time of this iteration
    int64_t ticked          # ns: time of the last tick
    int64_t next_tick       # ns: earliest time at which the next tick has work to do
    int64_t rates_reported_at   # ns: when the rates of tracks were last reported
    int64_t next_watch      # ns: when to look for silent paths again
    int64_t deadline        # ns: latest time for the next tick; the thread may sleep until then


cdef inline bint is_waiting(const Core* core) noexcept nogil:
    """Return whether any datagram is waiting to be sent, even if sending is blocked."""
    cdef uint32_t i
    for i in range(core.shard_count):
        if core.shards[i].audio.count or core.shards[i].video.count:
            return True
    return False


cdef inline bint is_pending(const Core* core) noexcept nogil:
    """Return whether any waiting datagram can be sent now."""
    cdef const Shard* shard
    cdef uint32_t i
    if core.ready != NULL:
        return True
    for i in range(core.shard_count):
        shard = &core.shards[i]
        if (shard.audio.count or shard.video.count) and not shard.egress.blocked:
            return True
    return False


cdef inline bint is_blocked(const Core* core) noexcept nogil:
    """Return whether any egress is blocked because the kernel cannot accept data now."""
    cdef uint32_t i
    for i in range(core.shard_count):
        if core.shards[i].egress.blocked:
            return True
    return core.egress.blocked


cdef inline SendQueue* queue_of(Core* core, DownTrack* down_track) noexcept nogil:
    cdef Shard* shard = &core.shards[down_track.transport.shard]
    if down_track.paced:
        return <SendQueue*>down_track.transport.paced_queue
    return &shard.audio if down_track.forwarder.kind == AUDIO else &shard.video


cdef inline Egress* egress_of(Core* core, const DownTrack* down_track) noexcept nogil:
    return core.shards[down_track.transport.shard].egress


cdef inline void fall_due(Core* core, int64_t when, int64_t patience) noexcept nogil:
    """Request a tick at `when`. The tick may come up to `patience` later if nothing else wakes the thread."""
    cdef int64_t earliest = core.ticked + TICK_SPACING
    core.next_tick = min(core.next_tick, max(when, earliest))
    core.deadline = min(core.deadline, max(when + patience, earliest))


cdef inline uint32_t random32(Core* core) noexcept nogil:
    """Return a random number from xorshift64*, for phases and initial numbers. Never use it for keys."""
    core.random_state ^= core.random_state >> 12
    core.random_state ^= core.random_state << 25
    core.random_state ^= core.random_state >> 27
    return <uint32_t>((core.random_state * <uint64_t>0x2545F4914F6CDD1D) >> 32)
