"""Core: everything that the core's thread owns, passed by pointer to whoever acts on it."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from svc._rtp.egress cimport Egress
from svc._rtp.objects cimport Counters, Negotiated, Transport
from svc._rtp.pool cimport Pool
from svc._rtp.ring cimport Ring
from svc._rtp.sendqueue cimport RecordPool, SendQueue
from svc._rtp.table cimport Table

cdef enum:
    # Records sent before datagrams are received again: at a microsecond or so each, reception waits no longer
    # than a quarter of a millisecond, and so does audio for video.
    QUANTUM = 256
    # A receiver's packets that are sent together: as many as the kernel cuts out of one message.
    RUN = 64


cdef struct Core:
    Pool pool
    Egress egress
    Negotiated negotiated
    Counters counters
    RecordPool records
    SendQueue audio         # drained first
    SendQueue video
    int64_t departed[QUANTUM + RUN]  # ns: when the packets came whose last datagram this turn has written
    uint32_t departed_count

    Transport* transports   # a list
    Transport* senders      # a list: those who have sent media
    uint32_t sources        # that media comes from, over all transports
    Table by_id             # transport, forwarder and down-track ids share one number space
    Table by_source         # validated remote addresses
    Table by_ufrag

    Ring ice                # CHECK and STUN: a flood of them must not push out the rest
    Ring events             # DTLS, TRACK, CLOSED, SPEAKING
    Ring details            # FORWARDED, where `verbose`
    bint verbose

    uint64_t hash_seed      # peers must not choose their place in our tables
    uint64_t random_state
    uint32_t stun_tag       # first four bytes of every transaction id of ours
    int64_t now             # ns, monotonic: of this turn
    int64_t next_tick       # ns


cdef inline uint32_t random32(Core* core) noexcept nogil:
    """xorshift64*: for phases and first numbers, never for keys."""
    core.random_state ^= core.random_state >> 12
    core.random_state ^= core.random_state << 25
    core.random_state ^= core.random_state >> 27
    return <uint32_t>((core.random_state * <uint64_t>0x2545F4914F6CDD1D) >> 32)
