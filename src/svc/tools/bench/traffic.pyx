"""Traffic: sends and receives the media of many clients on one native thread without the GIL.

Each client is a socket with its SRTP keys, after ICE and DTLS have finished. The RTP core encrypts, decrypts
and parses. traffic.h contains the code for sockets and clocks. Rooms and signalling are handled elsewhere.
"""

import threading

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from svc._rtp.address cimport from_text
from svc._rtp.atomics cimport load_acquire, store_release
from svc._rtp.sha1 cimport hmac_key
from svc._rtp.srtp cimport SrtpKeys
from svc.tools.bench.load cimport (
    BUCKETS, MAX_CLIENTS, MAX_PAYLOAD, STAMP, TRAFFIC_BATCH, TRAFFIC_BYTES, Client, Load, Stream, traffic_cpu,
    traffic_now, traffic_sleep_until,
)
from svc.tools.bench.receiver cimport drain_all
from svc.tools.bench.sender cimport HEADER, send_due

MIN_SIZE = HEADER + STAMP + 12
MAX_SIZE = 1400
TOTALS = ("sent", "unsent", "late", "received", "resent", "authenticated", "forged", "checks", "keyframes_asked",
          "other", "discarded", "busy_ns")

# The interval at which the sockets are read (ns). Arrival times come from the kernel, so this only limits how
# much data waits in a socket. No thread sleeps on a socket, so the service does not pay for waking one.
cdef int64_t DRAIN_INTERVAL = 1_000_000
# The interval while nothing is sent, when little arrives and another generator might need the processor.
cdef int64_t IDLE_DRAIN_INTERVAL = 10_000_000


def _bucket_start(bucket) -> float:
    shift = max(bucket // 32 - 1, 0)
    return ((bucket - shift * 32) << shift) / 1e9


LATENCY_BUCKETS = tuple(_bucket_start(bucket) for bucket in range(int(BUCKETS)))


cdef class Traffic:
    """The media of many clients. See traffic.pyi for each method's contract."""

    cdef Load load
    cdef size_t stopping
    cdef list keys          # keeps the clients' SRTP contexts alive
    cdef object thread

    def __cinit__(self, *, bint audio, int size, int burst, double loss=0.0):
        cdef Load* load = &self.load
        cdef int i
        if not MIN_SIZE <= size <= MAX_SIZE or burst < 1 or not 0 <= loss < 1:
            raise ValueError(f"a packet must have {MIN_SIZE} to {MAX_SIZE} bytes, a burst one packet or more, loss is a share")
        load.clients = <Client*>calloc(MAX_CLIENTS, sizeof(Client))
        if load.clients == NULL:
            raise MemoryError
        load.audio = audio
        load.size = size
        load.burst = burst
        load.loss = <uint32_t>(loss * 0xFFFFFFFF)
        load.random = 0x9E3779B9
        load.clock_rate = 48000 if audio else 90000
        for i in range(MAX_PAYLOAD):
            load.payload[i] = <uint8_t>(i * 7 + 1)
        for i in range(TRAFFIC_BATCH):
            load.datagrams[i].data = load.buffers + i * TRAFFIC_BYTES
        self.keys = []

    def __dealloc__(self):
        if self.load.clients != NULL:
            for i in range(self.load.count):
                free(self.load.clients[<size_t>i].streams)
            free(self.load.clients)

    # --- called on Python's thread ---

    def add(self, int fd, SrtpKeys keys, str pwd, tuple server, *, int payload_type, int streams, str mid="",
            uint32_t ssrc=0, int mid_id=0, int twcc_id=0, int level_id=0):
        cdef Client* client = &self.load.clients[self.load.count]
        cdef bytes secret = pwd.encode("ascii")
        if self.load.count == MAX_CLIENTS:
            raise ValueError(f"at most {MAX_CLIENTS} clients")
        from_text(&client.server, server[0], server[1])
        client.capacity = streams if streams > 1 else 1
        client.streams = <Stream*>calloc(<size_t>client.capacity, sizeof(Stream))
        if client.streams == NULL:
            raise MemoryError
        client.fd = fd
        client.inbound = &keys.inbound
        client.outbound = &keys.outbound
        hmac_key(&client.key, secret)
        client.payload_type = <uint8_t>payload_type
        client.mid_id = <uint8_t>mid_id
        client.twcc_id = <uint8_t>twcc_id
        client.level_id = <uint8_t>level_id
        client.ssrc = ssrc
        client.mid = <uint8_t>ord(mid[0]) if mid else 0
        client.keyframe_due = True
        self.keys.append(keys)
        store_release(&self.load.count, self.load.count + 1)
        return self.load.count - 1

    def start(self):
        self.thread = threading.Thread(target=self._run, name="traffic", daemon=True)
        self.thread.start()

    def stop(self):
        store_release(&self.stopping, 1)
        if self.thread is not None:
            self.thread.join()
            self.thread = None

    def set_rate(self, int pps):
        store_release(&self.load.interval, <size_t>(1_000_000_000 * <int64_t>self.load.burst // pps) if pps else 0)

    def totals(self) -> dict:
        cdef uint64_t* values = <uint64_t*>&self.load.totals
        return {name: values[<int>i] for i, name in enumerate(TOTALS)}

    def latencies(self) -> list:
        return [self.load.histogram[<int>i] for i in range(int(BUCKETS))]

    def received(self, size_t client) -> int:
        return self.load.clients[client].received

    def sources(self, size_t client) -> int:
        return self.load.clients[client].sources

    def first_media(self, size_t client) -> float | None:
        at = self.load.clients[client].first_media
        return at / 1e9 if at else None

    def _run(self):
        with nogil:
            self.run()

    # --- runs on its own thread ---

    cdef void run(self) noexcept nogil:
        cdef int64_t next_drain = 0, now, due
        while not load_acquire(&self.stopping):
            now = traffic_now()
            due = send_due(&self.load, now)
            if now >= next_drain:
                next_drain = now + (DRAIN_INTERVAL if load_acquire(&self.load.interval) else IDLE_DRAIN_INTERVAL)
                drain_all(&self.load, now)
                self.load.totals.busy_ns = <uint64_t>traffic_cpu()
                due = send_due(&self.load, traffic_now())
            traffic_sleep_until(min(due, next_drain))
