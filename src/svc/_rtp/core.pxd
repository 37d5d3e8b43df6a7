"""Core: everything that the core's thread owns, passed by pointer to whoever acts on it."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from svc._rtp.egress cimport Egress
from svc._rtp.objects cimport AUDIO, Counters, DownTrack, Negotiated, Transport
from svc._rtp.pool cimport Pool
from svc._rtp.ring cimport Ring
from svc._rtp.sendqueue cimport RecordPool, SendQueue
from svc._rtp.streams cimport Streams
from svc._rtp.table cimport Table

cdef enum:
    # Records sent before datagrams are received again: at a microsecond or so each, reception waits no longer
    # than a quarter of a millisecond, and so does audio for video.
    QUANTUM = 256
    # A receiver's packets that are sent together: as many as the kernel cuts out of one message.
    RUN = 64
    # ns. However much falls due, ticks are no closer together: each looks at everybody who sends.
    TICK_SPACING = 5_000_000
    # ns. So long may what is not urgent wait for a packet that wakes the thread: who speaks sends one in this time.
    PATIENCE = 20_000_000
    # Of receivers: as many as there may be threads that send.
    MAX_SHARDS = 16


cdef struct Shard:          # the receivers whose media leaves through one thread
    Egress* egress          # `handed_over`, or the core's where its thread sends them itself
    Egress handed_over
    SendQueue audio         # drained first
    SendQueue video


cdef struct Core:
    Pool pool
    Egress egress           # of the core's thread: all that is no media
    Shard shards[MAX_SHARDS]
    uint32_t shard_count
    uint32_t packet_shards  # of these, the first ones; the rest is not for receivers that are reached by UDP
    uint32_t stream_shard   # of those that are reached by TCP: its egress is the core's
    uint32_t next_shard     # a new transport's
    uint32_t first_shard    # whose turn it is to go first
    Negotiated negotiated
    Counters counters
    RecordPool records
    Streams* streams        # NULL = TCP is not served

    Transport* transports   # a list
    Transport* senders      # a list: those who have sent media
    Transport* probed       # a list: those whose lines may be probed
    int64_t next_probe      # ns: when they are looked at again
    Table by_id             # transport, forwarder and down-track ids share one number space
    Table by_source         # validated remote addresses
    Table by_ufrag
    Table by_ssrc           # participants by the sources that authentic packets came from

    Ring ice                # CHECK and STUN: a flood of them must not push out the rest
    Ring events             # DTLS, TRACK, CLOSED, SPEAKING
    Ring details            # FORWARDED, where `verbose`
    bint verbose

    uint64_t hash_seed      # peers must not choose their place in our tables
    uint64_t random_state
    uint32_t stun_tag       # first four bytes of every transaction id of ours
    int64_t now             # ns, monotonic: of this turn
    int64_t ticked          # ns: when the last tick was
    int64_t next_tick       # ns: from when on the next one has something to do
    int64_t next_watch      # ns: when silent paths are looked for again
    int64_t deadline        # ns: when it has to be; until then the thread may sleep


cdef inline bint is_waiting(const Core* core) noexcept nogil:
    """Whether there is something to send, whether it can be or not."""
    cdef uint32_t i
    for i in range(core.shard_count):
        if core.shards[i].audio.count or core.shards[i].video.count:
            return True
    return False


cdef inline bint is_pending(const Core* core) noexcept nogil:
    """Whether there is something to send that can be sent now."""
    cdef const Shard* shard
    cdef uint32_t i
    for i in range(core.shard_count):
        shard = &core.shards[i]
        if (shard.audio.count or shard.video.count) and not shard.egress.blocked:
            return True
    return False


cdef inline bint is_blocked(const Core* core) noexcept nogil:
    """Whether the system takes no more of something for now."""
    cdef uint32_t i
    for i in range(core.shard_count):
        if core.shards[i].egress.blocked:
            return True
    return core.egress.blocked


cdef inline SendQueue* queue_of(Core* core, DownTrack* down_track) noexcept nogil:
    cdef Shard* shard = &core.shards[down_track.transport.shard]
    return &shard.audio if down_track.forwarder.kind == AUDIO else &shard.video


cdef inline Egress* egress_of(Core* core, const DownTrack* down_track) noexcept nogil:
    return core.shards[down_track.transport.shard].egress


cdef inline void fall_due(Core* core, int64_t when, int64_t patience) noexcept nogil:
    """Let there be a tick at `when`; up to `patience` later where the thread is not awake anyhow."""
    cdef int64_t earliest = core.ticked + TICK_SPACING
    core.next_tick = min(core.next_tick, max(when, earliest))
    core.deadline = min(core.deadline, max(when + patience, earliest))


cdef inline uint32_t random32(Core* core) noexcept nogil:
    """xorshift64*: for phases and first numbers, never for keys."""
    core.random_state ^= core.random_state >> 12
    core.random_state ^= core.random_state << 25
    core.random_state ^= core.random_state >> 27
    return <uint32_t>((core.random_state * <uint64_t>0x2545F4914F6CDD1D) >> 32)
