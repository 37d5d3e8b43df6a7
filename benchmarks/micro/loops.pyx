"""Repeats single steps of the core without Python in between, so that only the step is timed or counted.

Each class prepares its step once, and `run` repeats the step without the GIL. All loops run within
svc_measured, so that callgrind can distinguish them from everything else. Sent packets are discarded, because
other benchmarks measure sockets.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from svc._rtp.address cimport Path, from_text, mix
from svc._rtp.core cimport Core, is_pending
from svc._rtp.delivery cimport drain
from svc._rtp.egress_batch cimport Egress
from svc._rtp.engine cimport Engine
from svc._rtp.feedback cimport rtcp_received
from svc._rtp.frames cimport FrameReader, read_frame
from svc._rtp.header cimport Header, Rewrite as HeaderRewrite, parse, write
from svc._rtp.ingress cimport received
from svc._rtp.layers cimport Frame
from svc._rtp.objects cimport DownTrack, Sent, Transport
from svc._rtp.pool cimport Slot, acquire, release
from svc._rtp.rtcp cimport write_nack
from svc._rtp.sent_packets cimport note_sent
from svc._rtp.srtp cimport MAX_TRAILER, Plaintext, SrtpContext, SrtpKeys, seal
from svc._rtp.table cimport lookup
from svc._rtp.wire cimport store16, store24

ctypedef void (*turn_function)(void* context, long i) noexcept nogil

cdef extern from *:
    """
    typedef void (*svc_turn)(void *, long);
    static int svc_calls;
    __attribute__((noinline, noclone)) static void svc_measured(svc_turn turn, void *context, long times) {
        long i;
        svc_calls++;
        for (i = 0; i < times; i++)
            turn(context, i);
    }
    """
    int svc_calls
    void svc_measured(turn_function turn, void* context, long times) nogil


def calls() -> int:
    """Return the number of loops that have run. callgrind writes a file after each loop."""
    return svc_calls


cdef void discard(void* context, Egress* egress) noexcept nogil:
    egress.count = 0


cdef struct ParseStep:
    const uint8_t* data
    size_t length
    Header header


cdef void parse_turn(void* context, long i) noexcept nogil:
    cdef ParseStep* step = <ParseStep*>context
    parse(step.data, step.length, &step.header)


cdef class Parse:
    """A step that reads an RTP header with its extensions."""

    cdef ParseStep step
    cdef bytes packet

    def __init__(self, bytes packet):
        self.packet = packet
        self.step.data = packet
        self.step.length = <size_t>len(packet)

    def run(self, long times):
        with nogil:
            svc_measured(parse_turn, &self.step, times)


cdef struct DescriptorStep:
    FrameReader reader
    Frame frame
    uint8_t delta[64]
    uint8_t length


cdef void descriptor_turn(void* context, long i) noexcept nogil:
    cdef DescriptorStep* step = <DescriptorStep*>context
    store16(step.delta + 1, <uint32_t>((step.reader.highest + 1) & 0xFFFF))
    read_frame(&step.reader, step.delta, step.length, <uint32_t>(i * 3000), &step.frame)


cdef class Descriptor:
    """A step that reads consecutive frames' Dependency Descriptors, whose template structure was sent once.
    """

    cdef DescriptorStep step

    def __init__(self, bytes structure, bytes delta):
        memset(&self.step, 0, sizeof(DescriptorStep))
        read_frame(&self.step.reader, structure, <uint8_t>len(structure), 0, &self.step.frame)
        self.step.length = <uint8_t>len(delta)
        memcpy(self.step.delta, <const uint8_t*>delta, self.step.length)

    def run(self, long times):
        with nogil:
            svc_measured(descriptor_turn, &self.step, times)


cdef struct RewriteStep:
    const uint8_t* data
    Header header
    HeaderRewrite rewrite
    uint8_t ids[256]
    uint8_t out[2048]


cdef void rewrite_turn(void* context, long i) noexcept nogil:
    cdef RewriteStep* step = <RewriteStep*>context
    step.rewrite.sequence = <uint16_t>i
    write(step.out, step.data, &step.header, &step.rewrite)


cdef class Rewrite:
    """A step that writes a receiver's header, with the only extension that is forwarded."""

    cdef RewriteStep step
    cdef bytes packet

    def __init__(self, bytes packet, int kept_id):
        cdef RewriteStep* step = &self.step
        memset(step, 0, sizeof(RewriteStep))
        self.packet = packet
        step.data = packet
        step.ids[kept_id & 255] = <uint8_t>kept_id
        step.rewrite.ssrc = 0xCAFEBABE
        step.rewrite.payload_type = 112
        step.rewrite.mixed = True
        step.rewrite.ext_ids = step.ids
        if parse(step.data, <size_t>len(packet), &step.header) < 0:
            raise ValueError("not an RTP packet")

    def run(self, long times):
        with nogil:
            svc_measured(rewrite_turn, &self.step, times)


cdef struct ProtectStep:
    SrtpContext* context
    Plaintext plaintext
    uint8_t payload[1500]
    uint8_t out[1500 + MAX_TRAILER]


cdef void protect_turn(void* context, long i) noexcept nogil:
    cdef ProtectStep* step = <ProtectStep*>context
    step.plaintext.index += 1
    store16(step.out + 2, <uint32_t>(step.plaintext.index & 0xFFFF))
    seal(step.context, step.out, &step.plaintext)


cdef class Protect:
    """A step that encrypts the payload after a header. `size` includes both."""

    cdef ProtectStep step
    cdef SrtpKeys keys

    def __init__(self, SrtpKeys keys, int size):
        cdef ProtectStep* step = &self.step
        memset(step, 0, sizeof(ProtectStep))
        self.keys = keys
        step.context = &keys.outbound
        step.out[0] = 0x80
        step.plaintext.header_length = 12
        step.plaintext.payload = step.payload
        step.plaintext.payload_length = <size_t>size - 12

    def run(self, long times):
        with nogil:
            svc_measured(protect_turn, &self.step, times)


cdef struct FanOutStep:
    Core* core
    Path path
    uint8_t* packets
    int length
    long at


cdef void fan_out_turn(void* context, long i) noexcept nogil:
    cdef FanOutStep* step = <FanOutStep*>context
    cdef Core* core = step.core
    cdef Slot* slot = acquire(&core.pool)
    if slot == NULL:
        return
    # 300 packets a second.
    core.now += 3_333_333
    memcpy(slot.data, step.packets + step.at * step.length, <size_t>step.length)
    step.at += 1
    slot.length = <uint16_t>step.length
    slot.arrival = core.now
    received(core, slot, &step.path)
    while is_pending(core):
        drain(core)
    core.egress.flush(core.egress.context, &core.egress)
    release(&core.pool, slot)


cdef class FanOut:
    """A step that processes the next packet and writes it for all receivers of its track."""

    cdef FanOutStep step
    cdef Engine engine
    cdef long count

    def __init__(self, Engine engine, list packets, tuple remote, str local):
        """Prepare the step. All `packets` are encrypted, in order, and of the same length."""
        cdef FanOutStep* step = &self.step
        memset(step, 0, sizeof(FanOutStep))
        self.engine = engine
        self.count = len(packets)
        joined = b"".join(packets)
        step.core = &engine.core
        step.length = <int>len(packets[0])
        step.packets = <uint8_t*>malloc(<size_t>len(joined))
        if step.packets == NULL:
            raise MemoryError
        memcpy(step.packets, <const uint8_t*>(<bytes>joined), <size_t>len(joined))
        from_text(&step.path.remote, remote[0], remote[1])
        from_text(&step.path.local, local, 0)
        engine.apply_commands()
        engine.core.egress.flush = discard

    def __dealloc__(self):
        free(self.step.packets)

    def run(self, long times):
        """Process `times` packets. Raises ValueError if fewer packets are left."""
        if self.step.at + times > self.count:
            raise ValueError(f"{self.count - self.step.at} packets are left")
        with nogil:
            svc_measured(fan_out_turn, &self.step, times)

    @property
    def sent(self) -> int:
        """Return the number of packets written for receivers so far."""
        return self.engine.core.counters.packets_sent


cdef struct NackStep:
    Core* core
    Transport* transport


cdef void nack_turn(void* context, long i) noexcept nogil:
    cdef NackStep* step = <NackStep*>context
    cdef DownTrack* down_track = step.transport.down_tracks
    # The most recent packets are still in the history.
    cdef int64_t output = down_track.numbers.next_output - 1 - i % 64
    cdef Sent* sent = &down_track.sent[output & down_track.sent_mask]
    cdef uint8_t compound[64]
    cdef uint16_t number = <uint16_t>output
    cdef size_t length = write_nack(compound, 1, down_track.ssrc, &number, 1)
    # Reset the packet, because limits on resending are not measured here.
    sent.resends = 0
    sent.resent_at = 0
    down_track.resend_credit = 65536
    rtcp_received(step.core, step.transport, compound, length)
    step.core.egress.count = 0


cdef class Nack:
    """A step that finds a packet requested by a NACK and writes it again as RTX."""

    cdef NackStep step
    cdef Engine engine

    def __init__(self, Engine engine, int transport):
        self.engine = engine
        self.step.core = &engine.core
        self.step.transport = <Transport*>lookup(&engine.core.by_id, mix(<uint64_t>transport))
        if self.step.transport == NULL or self.step.transport.down_tracks == NULL:
            raise ValueError("a transport that receives a track is needed")

    def run(self, long times):
        with nogil:
            svc_measured(nack_turn, &self.step, times)

    @property
    def resent(self) -> int:
        return self.engine.core.counters.retransmissions_sent


cdef enum:
    REPORTED = 100          # packets per feedback message: a tenth of a second at 10 Mbit/s


cdef struct ReportsStep:
    Core* core
    Transport* transport
    uint8_t compound[32 + 2 * REPORTED]
    size_t length


cdef void reports_turn(void* context, long i) noexcept nogil:
    cdef ReportsStep* step = <ReportsStep*>context
    cdef uint16_t first = <uint16_t>step.transport.wide.next_number
    cdef int k
    for k in range(REPORTED):
        note_sent(&step.transport.wide, step.core.now + k * 1_000_000, 1100)
    # One and a half times the unit of the reference time.
    step.core.now += 96_000_000
    store16(step.compound + 12, first)
    store24(step.compound + 16, <uint32_t>(1000 + i * 3 // 2))
    rtcp_received(step.core, step.transport, step.compound, step.length)


cdef class Reports:
    """A step that records a hundred sent packets, reads the feedback about them, and updates the estimate."""

    cdef ReportsStep step
    cdef Engine engine

    def __init__(self, Engine engine, int transport):
        cdef ReportsStep* step = &self.step
        cdef int i
        memset(step, 0, sizeof(ReportsStep))
        self.engine = engine
        engine.apply_commands()
        step.core = &engine.core
        step.transport = <Transport*>lookup(&engine.core.by_id, mix(<uint64_t>transport))
        if step.transport == NULL or step.transport.bandwidth == NULL:
            raise ValueError("a transport that has negotiated transport-wide numbers is needed")
        # RTPFB 15 with two run-length chunks. Each delta has one byte and is 1 ms.
        step.length = 20 + 2 + REPORTED + 2
        step.length += (4 - step.length % 4) % 4
        step.compound[0] = 0x8F
        step.compound[1] = 205
        store16(step.compound + 2, <uint32_t>(step.length // 4 - 1))
        store16(step.compound + 14, REPORTED)
        store16(step.compound + 20, 0x2000 | REPORTED)
        for i in range(REPORTED):
            step.compound[22 + i] = 4

    def run(self, long times):
        with nogil:
            svc_measured(reports_turn, &self.step, times)

    @property
    def ignored(self) -> int:
        """Return the number of rejected feedback packets. If it is not zero, the measurement is invalid."""
        return self.engine.core.counters.bandwidth_reports_ignored + self.engine.core.counters.dropped_malformed
