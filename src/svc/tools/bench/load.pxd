"""Declares a load generator's state: its clients, their streams, and counters.

Only Traffic's thread uses it, except for `count` and `interval`, which Python sets.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.address cimport Address
from svc._rtp.sha1 cimport HmacKey
from svc._rtp.srtp cimport SrtpContext

cdef extern from "traffic.h":
    enum:
        TRAFFIC_BATCH
        TRAFFIC_BYTES

    struct traffic_datagram:
        uint8_t* data
        int length
        int64_t arrival

    int64_t traffic_now() nogil
    int64_t traffic_cpu() nogil
    void traffic_sleep_until(int64_t at) nogil
    int traffic_send(int fd, const uint8_t* data, int length) nogil
    int traffic_receive(int fd, traffic_datagram* datagrams, int kept) nogil

cdef enum:
    MAX_CLIENTS = 4096
    MAX_PAYLOAD = 1500
    BUCKETS = 1088          # buckets of the latency histogram: 32 per octave, up to 68 s
    # The offset of the time in a payload, after the bytes of a VP8 keyframe, and the marker that precedes the
    # time.
    STAMP = 12
    MAGIC = 0x73766362


cdef struct Stream:         # a track that a client receives
    uint32_t ssrc
    uint16_t highest
    uint16_t cycles
    uint32_t opened         # rollover cycles and number of the last packet that we tried to authenticate
    uint32_t lsr            # middle 32 bits of the last sender report's time
    int64_t sr_arrival      # ns


cdef struct Client:
    int fd
    SrtpContext* inbound
    SrtpContext* outbound
    HmacKey key             # HMAC key of our ICE password, which authenticates the service's checks
    Address server

    uint8_t payload_type    # payload type of media, in both directions
    Stream* streams
    int capacity
    size_t sources          # number of tracks that have arrived
    int last                # the stream of the last packet
    bint overdue            # a stream's packets must be decrypted, even beyond the budget
    uint64_t received
    int64_t first_media     # ns; 0 = none yet
    int64_t report_due      # ns

    uint32_t ssrc           # SSRC of its own track, or 0 if it sends nothing
    uint8_t mid
    uint8_t mid_id          # extension ids; 0 = not negotiated
    uint8_t twcc_id
    uint8_t level_id
    int64_t index           # index of the next packet: rollover counter and sequence number
    uint16_t transport_number
    uint32_t packets
    uint32_t octets
    int64_t due             # time of the next burst in ns; 0 = not yet set
    bint keyframe_due


cdef struct Totals:
    uint64_t sent
    uint64_t unsent         # the generator was scheduled too late, or the kernel's buffer was full
    uint64_t late           # sent, but in a burst larger than a real sender's
    uint64_t received
    uint64_t resent         # other payload types: retransmissions by the service
    uint64_t authenticated
    uint64_t forged         # decrypted, but forged or not ours
    uint64_t checks
    uint64_t keyframes_asked
    uint64_t other
    uint64_t discarded      # discarded as if lost, and requested again
    uint64_t busy_ns        # CPU time of the thread


cdef struct Load:
    Client* clients         # array of MAX_CLIENTS
    size_t count            # number of clients that the thread may use
    size_t interval         # ns between a sender's bursts; 0 = silence
    size_t first            # first client of the next drain
    int64_t budget          # number of packets that may still be decrypted now

    bint audio
    int size                # size of an RTP packet before encryption
    int burst
    int clock_rate
    uint32_t loss           # packets to discard, per 2^32
    uint32_t random         # xorshift32; never 0
    uint8_t payload[MAX_PAYLOAD]

    traffic_datagram datagrams[TRAFFIC_BATCH]
    uint8_t buffers[TRAFFIC_BATCH * TRAFFIC_BYTES]
    Totals totals
    uint64_t histogram[BUCKETS]


cdef inline Stream* stream_of(Client* client, uint32_t ssrc) noexcept nogil:
    """Return the client's record of a track, creating it if it is new. Return NULL beyond the maximum."""
    cdef int known = <int>client.sources
    cdef int i, at
    for i in range(known):
        # Tracks take turns, so the next packet's track is near the previous packet's.
        at = (client.last + i) % known
        if client.streams[at].ssrc == ssrc:
            client.last = at
            return &client.streams[at]
    if known == client.capacity:
        return NULL
    client.streams[known].ssrc = ssrc
    client.sources = <size_t>known + 1
    return &client.streams[known]
