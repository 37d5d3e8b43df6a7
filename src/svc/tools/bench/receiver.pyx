"""Counts received packets and authenticates and times as many of them as the budget allows.

For a packet beyond the budget, only the header is read, and little more is copied from the kernel, because a
generator that decrypted every packet would be slower than the service. Answers consent checks, and records
keyframe requests and sender reports. Sends NACKs only for packets that are discarded deliberately, so that
packets lost by the service stay visible.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from svc._rtp.atomics cimport load_acquire
from svc._rtp.demux cimport RTCP, RTP, STUN, Kind, demux
from svc._rtp.header cimport Header, parse
from svc._rtp.rtcp cimport FMT_PLI, PSFB, SR, Packet, SenderInfo, next_packet, read_sender_info, write_nack
from svc._rtp.srtp cimport MAX_TRAILER, protect_rtcp, unprotect, unprotect_rtcp
from svc._rtp.stun cimport BINDING_REQUEST, MAX_ANSWER, BindingRequest, message_type, read_request, verify, write_success
from svc._rtp.wire cimport Cursor, load16, load32, load64
from svc.tools.bench.load cimport (
    BUCKETS, MAGIC, STAMP, TRAFFIC_BATCH, TRAFFIC_BYTES, Client, Stream, stream_of, traffic_datagram, traffic_now,
    traffic_receive, traffic_send,
)
from svc.tools.bench.sender cimport report, send_due

# The sockets are read a thousand times a second. Each time, this many packets may be decrypted. Unused budget
# accumulates up to the second value, so that the packets of a burst can also be decrypted.
cdef int64_t BUDGET = 20
cdef int64_t SAVED_BUDGET = 1000
cdef enum:
    # At least one packet in this many must be decrypted, because after skipping 2^15 packets, libsrtp loses
    # count of the rollovers and rejects all later packets (RFC 3711 section 3.3.1).
    MAX_UNOPENED_PACKETS = 1 << 13
    # The number of bytes copied from a packet beyond the budget: enough for a consent check or a keyframe
    # request.
    KEPT = 192
    NACK_BYTES = 16         # with one sequence number
    CLIENTS_PER_TURN = 16   # number of clients' sockets to read before sending due packets


cdef int LAST_BUCKET = BUCKETS - 1


cdef inline int bucket_of(int64_t ns) noexcept nogil:
    """Return the histogram bucket. There are 32 buckets per octave."""
    cdef int shift = 0
    if ns < 0:
        return 0
    while ns >= 64:
        ns >>= 1
        shift += 1
    shift = shift * 32 + <int>ns
    return shift if shift < LAST_BUCKET else LAST_BUCKET


cdef void drain_all(Load* load, int64_t now) noexcept nogil:
    """Read all sockets, starting with a different socket each time."""
    cdef size_t count = load_acquire(&load.count), i
    cdef Client* client
    if count == 0:
        return
    load.budget = min(load.budget + BUDGET, SAVED_BUDGET)
    load.first = (load.first + 1) % count
    for i in range(count):
        client = &load.clients[(load.first + i) % count]
        drain(load, client)
        if client.report_due <= now:
            report(load, client, now)
        if i % CLIENTS_PER_TURN == CLIENTS_PER_TURN - 1:
            send_due(load, traffic_now())


cdef void drain(Load* load, Client* client) noexcept nogil:
    cdef int kept, n, i
    while True:
        kept = TRAFFIC_BYTES - MAX_TRAILER if load.budget > 0 or client.overdue else KEPT
        client.overdue = False
        n = traffic_receive(client.fd, load.datagrams, kept)
        for i in range(n):
            datagram_received(load, client, &load.datagrams[i], load.datagrams[i].length <= kept)
        if n < TRAFFIC_BATCH:
            return


cdef void datagram_received(Load* load, Client* client, traffic_datagram* datagram, bint whole) noexcept nogil:
    cdef Kind kind = demux(datagram.data, <size_t>datagram.length)
    if kind == RTP:
        media_received(load, client, datagram, whole)
    elif kind == STUN and whole:
        check_received(load, client, datagram)
    elif kind == RTCP and whole:
        reports_received(load, client, datagram)
    else:
        load.totals.other += 1


cdef void media_received(Load* load, Client* client, traffic_datagram* datagram, bint whole) noexcept nogil:
    cdef Stream* stream
    cdef uint16_t sequence = load16(datagram.data + 2)
    cdef uint32_t unopened
    if datagram.data[1] & 0x7F != client.payload_type:
        load.totals.resent += 1
        return
    stream = stream_of(client, load32(datagram.data + 8))
    if stream == NULL:
        load.totals.other += 1
        return
    if client.first_media == 0:
        client.first_media = datagram.arrival
    if <uint16_t>(sequence - stream.highest) < 0x8000:
        if sequence < stream.highest:
            stream.cycles += 1
        stream.highest = sequence
    if load.loss and discards(load):
        load.totals.discarded += 1
        ask_again(client, stream, sequence)
        return
    client.received += 1
    load.totals.received += 1
    unopened = (<uint32_t>stream.cycles << 16 | stream.highest) - stream.opened
    if whole and (load.budget > 0 or unopened >= MAX_UNOPENED_PACKETS):
        load.budget -= 1
        stream.opened += unopened
        open_packet(load, client, datagram)
    elif unopened >= MAX_UNOPENED_PACKETS:
        client.overdue = True


cdef bint discards(Load* load) noexcept nogil:
    load.random ^= load.random << 13
    load.random ^= load.random >> 17
    load.random ^= load.random << 5
    return load.random < load.loss


cdef void ask_again(Client* client, const Stream* stream, uint16_t sequence) noexcept nogil:
    """Send a NACK immediately. The retransmission will only be counted."""
    cdef uint8_t out[NACK_BYTES + MAX_TRAILER]
    cdef size_t length = write_nack(out, client.ssrc if client.ssrc else 1, stream.ssrc, &sequence, 1)
    cdef int total = protect_rtcp(client.outbound, out, <int>length)
    if total > 0:
        traffic_send(client.fd, out, total)


cdef void open_packet(Load* load, Client* client, traffic_datagram* datagram) noexcept nogil:
    """Authenticate a packet and record its latency."""
    cdef Header header
    cdef const uint8_t* payload
    # Use libsrtp, because the measured service uses OpenSSL and should be checked with a different library.
    cdef int length = unprotect(client.inbound, NULL, datagram.data, datagram.length)
    if length < 0 or parse(datagram.data, <size_t>length, &header) < 0 or header.payload_length < STAMP + 12:
        load.totals.forged += 1
        return
    payload = datagram.data + header.payload_offset + STAMP
    if load32(payload) != MAGIC:
        load.totals.forged += 1
        return
    load.totals.authenticated += 1
    load.histogram[bucket_of(datagram.arrival - <int64_t>load64(payload + 4))] += 1


cdef void check_received(Load* load, Client* client, traffic_datagram* datagram) noexcept nogil:
    """Answer a consent check (RFC 7675)."""
    cdef BindingRequest request
    cdef uint8_t answer[MAX_ANSWER]
    if message_type(datagram.data, <size_t>datagram.length) != BINDING_REQUEST:
        return
    if (read_request(datagram.data, <size_t>datagram.length, &request) < 0
            or not verify(datagram.data, &request, &client.key)):
        load.totals.other += 1
        return
    load.totals.checks += 1
    traffic_send(client.fd, answer, <int>write_success(answer, datagram.data, &client.server, &client.key))


cdef void reports_received(Load* load, Client* client, traffic_datagram* datagram) noexcept nogil:
    """Process a keyframe request or a sender report. Only authenticate any other packet."""
    cdef Cursor compound
    cdef Packet packet
    cdef SenderInfo info
    cdef Stream* stream
    cdef int length = unprotect_rtcp(client.inbound, datagram.data, datagram.length)
    if length < 0:
        load.totals.forged += 1
        return
    compound.at = datagram.data
    compound.left = <size_t>length
    while next_packet(&compound, &packet) > 0:
        if packet.type == PSFB and packet.count == FMT_PLI:
            client.keyframe_due = True
            load.totals.keyframes_asked += 1
        elif packet.type == SR and read_sender_info(&packet, &info) == 0:
            stream = stream_of(client, info.ssrc)
            if stream != NULL:
                stream.lsr = <uint32_t>(info.ntp >> 16)
                stream.sr_arrival = datagram.arrival


