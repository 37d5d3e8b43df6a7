"""Core: everything that the core's thread owns, passed by pointer to whoever acts on it."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from svc._rtp.egress cimport Egress
from svc._rtp.objects cimport Counters, DownTrack, Negotiated, Transport
from svc._rtp.pool cimport Pool, Slot
from svc._rtp.ring cimport Ring
from svc._rtp.table cimport Table

cdef enum:
    QUEUE = 4096            # send records; a full queue is drained at once


cdef struct SendRecord:     # one packet for one receiver, decided and numbered but not yet written
    DownTrack* down_track
    Slot* slot              # one reference
    int64_t output          # extended sequence number, which is also the SRTP packet index
    bint filler             # send padding under the number, not the packet
    SendRecord* next        # for the same receiver


cdef struct SendQueue:
    SendRecord* records     # QUEUE of them
    uint32_t count
    # Those that have records: one receiver's packets leave together, so that the kernel can cut them out
    # of one message, and its state is fetched from memory once.
    DownTrack* first
    DownTrack* last


cdef struct Core:
    Pool pool
    Egress egress
    Negotiated negotiated
    Counters counters
    SendQueue audio         # drained first
    SendQueue video

    Transport* transports   # a list
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
