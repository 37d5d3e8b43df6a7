"""Sends paced packets that contain the time, and one report per second.

Packets resemble a browser's: they have a mid, a transport-wide number and an audio level, one SSRC per
sender, the first bytes of VP8 or Opus, and a keyframe on request. Nothing is retransmitted, so that losses
stay visible. See RFC 3550 (reports), RFC 7741 (VP8).
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from svc._rtp.atomics cimport load_acquire
from svc._rtp.rtcp cimport MAX_RTCP, ReportBlock, SenderInfo, write_cname, write_rr, write_sr
from svc._rtp.srtp cimport MAX_TRAILER, Plaintext, protect_rtcp, seal
from svc._rtp.wire cimport store16, store32, store64
from svc.tools.bench.load cimport MAGIC, STAMP, TRAFFIC_BYTES, Stream, traffic_now, traffic_send

# The longest pause of a thread that has nothing to send (ns).
cdef int64_t MAX_PAUSE_NS = 1_000_000
# A sender this late was not scheduled in time. It continues from now, and the packets that it missed are
# counted.
cdef int64_t GIVE_UP = 100_000_000
# Packets sent this late form a burst with all packets that have become due in the meantime.
cdef int64_t LATE = 10_000_000
cdef int64_t REPORT_INTERVAL = 1_000_000_000
cdef enum:
    MAX_BLOCKS = 31         # the maximum per report (RFC 3550 section 6.4)


cdef int64_t send_due(Load* load, int64_t now) noexcept nogil:
    """Send the packets that are due. Return the time of the next burst, at most MAX_PAUSE_NS from now."""
    cdef size_t count = load_acquire(&load.count), i
    cdef int64_t interval = <int64_t>load_acquire(&load.interval)
    cdef int64_t next_due = now + MAX_PAUSE_NS
    cdef Client* client
    if interval == 0:
        for i in range(count):
            load.clients[i].due = 0
        return next_due
    for i in range(count):
        client = &load.clients[i]
        if client.ssrc == 0:
            continue
        if client.due < now - GIVE_UP:
            if client.due:
                load.totals.unsent += <uint64_t>((now - client.due) // interval * load.burst)
            # Give each sender its own phase.
            client.due = now + interval * <int64_t>(i % 16) // 16
        while client.due <= now:
            if client.due < now - LATE:
                load.totals.late += <uint64_t>load.burst
            send_burst(load, client, now)
            client.due += interval
        next_due = min(next_due, client.due)
    return next_due


cdef void send_burst(Load* load, Client* client, int64_t now) noexcept nogil:
    """Send one frame. Its packets share a timestamp, and the last packet has the marker bit."""
    cdef uint32_t timestamp = <uint32_t>(now // 1000 * load.clock_rate // 1_000_000)
    cdef int i
    for i in range(load.burst):
        send_packet(load, client, timestamp, i == 0, i == load.burst - 1)
    client.keyframe_due = False


cdef void send_packet(Load* load, Client* client, uint32_t timestamp, bint first, bint last) noexcept nogil:
    cdef uint8_t packet[TRAFFIC_BYTES]
    cdef Plaintext plaintext
    cdef int length
    plaintext.header_length = write_header(load, client, packet, timestamp, last)
    plaintext.prefix_length = 0
    plaintext.payload = load.payload
    plaintext.payload_length = <size_t>load.size - plaintext.header_length
    plaintext.ssrc = client.ssrc
    plaintext.index = <uint64_t>client.index
    if not load.audio:
        # VP8 (RFC 7741): the S bit and partition 0. In a keyframe, P is clear in the frame header.
        load.payload[0] = 0x10 if first else 0x00
        load.payload[1] = 0x00 if first and client.keyframe_due else 0x01
    store32(load.payload + STAMP, MAGIC)
    store64(load.payload + STAMP + 4, <uint64_t>traffic_now())
    length = seal(client.outbound, packet, &plaintext)
    client.index += 1
    client.transport_number += 1
    client.packets += 1
    client.octets += <uint32_t>plaintext.payload_length
    if length < 0 or traffic_send(client.fd, packet, length) < 0:
        load.totals.unsent += 1
    else:
        load.totals.sent += 1


cdef size_t write_header(Load* load, Client* client, uint8_t* out, uint32_t timestamp, bint marker) noexcept nogil:
    """Write the extensions that a browser sends: mid, transport-wide number and audio level."""
    cdef uint8_t* at = out + 16
    out[0] = 0x90
    out[1] = <uint8_t>(client.payload_type | (0x80 if marker and not load.audio else 0))
    store16(out + 2, <uint32_t>(client.index & 0xFFFF))
    store32(out + 4, timestamp)
    store32(out + 8, client.ssrc)
    store16(out + 12, 0xBEDE)
    store16(out + 14, 2)
    memset(at, 0, 8)
    if client.mid_id:
        at[0] = <uint8_t>(client.mid_id << 4)
        at[1] = client.mid
        at += 2
    if client.twcc_id:
        at[0] = <uint8_t>(client.twcc_id << 4 | 1)
        store16(at + 1, client.transport_number)
        at += 3
    if client.level_id and load.audio:
        at[0] = <uint8_t>(client.level_id << 4)
        at[1] = 40          # -40 dBov, as in speech
    return HEADER


cdef void report(Load* load, Client* client, int64_t now) noexcept nogil:
    """Send a report every second, as browsers do. It covers reception and, for a sender, the sender's clock.
    """
    cdef uint8_t out[MAX_RTCP + MAX_TRAILER]
    cdef ReportBlock blocks[MAX_BLOCKS]
    cdef SenderInfo info
    cdef size_t length = 0
    cdef int total, count = fill_blocks(client, blocks, now)
    client.report_due = now + REPORT_INTERVAL - <int64_t>(client.ssrc ^ <uint32_t>now) % 100_000_000
    if client.packets:
        info.ssrc = client.ssrc
        info.ntp = <uint64_t>(now // 1_000_000_000) << 32 | (<uint64_t>(now % 1_000_000_000) << 32) // 1_000_000_000
        info.rtp = <uint32_t>(now // 1000 * load.clock_rate // 1_000_000)
        info.packets = client.packets
        info.octets = client.octets
        length = write_sr(out, &info)
        length += write_cname(out + length, client.ssrc, b"bench", 5)
    if count:
        length += write_rr(out + length, client.ssrc if client.ssrc else 1, blocks, count)
    if length:
        total = protect_rtcp(client.outbound, out, <int>length)
        if total > 0:
            traffic_send(client.fd, out, total)


cdef int fill_blocks(Client* client, ReportBlock* blocks, int64_t now) noexcept nogil:
    cdef int count = min(<int>client.sources, <int>MAX_BLOCKS), i
    cdef Stream* stream
    memset(blocks, 0, MAX_BLOCKS * sizeof(ReportBlock))
    for i in range(count):
        stream = &client.streams[i]
        blocks[i].ssrc = stream.ssrc
        blocks[i].highest = <uint32_t>stream.cycles << 16 | stream.highest
        if stream.lsr:
            blocks[i].lsr = stream.lsr
            blocks[i].dlsr = <uint32_t>((now - stream.sr_arrival) * 65536 // 1_000_000_000)
    return count
