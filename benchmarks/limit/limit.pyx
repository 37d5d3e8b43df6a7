"""Does the minimum that a forwarding service must do with a packet, on one thread, as a baseline for this
service.

It receives a batch, decrypts each packet once, encrypts it for each receiver with the receiver's key, and
sends it. It is not an SFU: it does not rewrite SSRCs, and stores, counts, reports and inspects nothing. The
cipher is that of the RTP core, from the same library, so the difference from a real service is the cost of
everything else.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, malloc

from svc._rtp.srtp cimport Plaintext, SrtpContext, SrtpKeys, seal
from svc._rtp.wire cimport load16, load32

cdef extern from "limit.h":
    enum:
        LIMIT_BATCH
        LIMIT_BYTES

    struct limit_outbox:
        int count

    int limit_open() nogil
    int limit_port(int fd) nogil
    int limit_prepare(limit_outbox* out, int capacity) nogil
    void limit_address(limit_outbox* out, int i, uint16_t port) nogil
    int limit_receive(int fd, uint8_t* buffers, int* lengths) nogil
    void limit_add(limit_outbox* out, int i, uint8_t* data, int length, int segment) nogil
    void limit_flush(int fd, limit_outbox* out) nogil

cdef enum:
    HEADER = 24             # length of the generator's RTP headers
    TAG = 16


cdef struct Client:
    SrtpContext* inbound    # keyed like an outbound context: AES-GCM's cipher is its own inverse
    SrtpContext* outbound
    uint32_t ssrc           # SSRC of the packets that the client sends, or 0 if it sends none
    uint64_t index          # index of the client's last packet
    uint8_t* outgoing       # LIMIT_BATCH packets


cdef class Limit:
    """A port and its clients. The SRTP profile is AES-GCM."""

    cdef Client* clients
    cdef int count
    cdef int fd
    cdef limit_outbox outbox
    cdef uint8_t* incoming
    cdef uint8_t* plain
    cdef list keys

    def __init__(self, list clients):
        """Prepare the clients. Each is a tuple: its port, its SSRC (0 if it sends nothing), the key for packets
        from the client, and the key for packets to the client.
        """
        self.keys = []
        self.count = len(clients)
        self.clients = <Client*>calloc(<size_t>self.count, sizeof(Client))
        self.incoming = <uint8_t*>malloc(LIMIT_BATCH * LIMIT_BYTES)
        self.plain = <uint8_t*>malloc(LIMIT_BATCH * LIMIT_BYTES)
        self.fd = limit_open()
        if self.fd < 0 or limit_prepare(&self.outbox, self.count) < 0:
            raise MemoryError
        for i, (port, ssrc, received, sent) in enumerate(clients):
            self._add(i, port, ssrc, SrtpKeys("AEAD_AES_128_GCM", received, sent),
                      SrtpKeys("AEAD_AES_128_GCM", sent, received))

    cdef _add(self, int i, uint16_t port, uint32_t ssrc, SrtpKeys inbound, SrtpKeys outbound):
        limit_address(&self.outbox, i, port)
        self.clients[i].ssrc = ssrc
        self.clients[i].inbound = &inbound.outbound
        self.clients[i].outbound = &outbound.outbound
        self.clients[i].outgoing = <uint8_t*>malloc(LIMIT_BATCH * LIMIT_BYTES)
        self.keys += [inbound, outbound]

    @property
    def port(self) -> int:
        return limit_port(self.fd)

    def run(self):
        """Forward packets forever."""
        with nogil:
            while True:
                self.turn()

    cdef void turn(self) noexcept nogil:
        cdef int lengths[LIMIT_BATCH]
        cdef int sources[LIMIT_BATCH]
        cdef int n = limit_receive(self.fd, self.incoming, lengths), i
        for i in range(n):
            sources[i] = self.open_packet(i, lengths[i])
        for i in range(self.count):
            self.send_to(i, n, lengths, sources)
        limit_flush(self.fd, &self.outbox)

    cdef int open_packet(self, int at, int length) noexcept nogil:
        """Decrypt a packet into its plaintext buffer. Return its client, or -1 if the packet is not media."""
        cdef uint8_t* packet = self.incoming + at * LIMIT_BYTES
        cdef Plaintext ciphertext
        cdef Client* client
        cdef int i
        # In the byte that contains RTP's payload type, RTCP has a packet type of 200 or more.
        if length < HEADER + TAG or packet[0] != 0x90 or packet[1] & 0x7F >= 64 and packet[1] & 0x7F < 96:
            return -1
        for i in range(self.count):
            client = &self.clients[i]
            if client.ssrc != load32(packet + 8):
                continue
            client.index += <uint16_t>(load16(packet + 2) - <uint16_t>client.index)
            ciphertext.header_length = HEADER
            ciphertext.prefix_length = 0
            ciphertext.payload = packet + HEADER
            ciphertext.payload_length = <size_t>(length - HEADER - TAG)
            ciphertext.ssrc = client.ssrc
            ciphertext.index = client.index
            seal(client.inbound, self.plain + at * LIMIT_BYTES, &ciphertext)
            return i
        return -1

    cdef void send_to(self, int to, int count, const int* lengths, const int* sources) noexcept nogil:
        """Encrypt all packets in this batch from other clients for one client, one after another."""
        cdef Client* client = &self.clients[to]
        cdef Plaintext plaintext
        cdef uint8_t* out = client.outgoing
        cdef int total = 0, i, n, length = 0
        plaintext.header_length = HEADER
        plaintext.prefix_length = 0
        for i in range(count):
            if sources[i] < 0 or sources[i] == to:
                continue
            length = lengths[i]
            copy_header(out + total, self.incoming + i * LIMIT_BYTES)
            plaintext.payload = self.plain + i * LIMIT_BYTES + HEADER
            plaintext.payload_length = <size_t>(length - HEADER - TAG)
            plaintext.ssrc = self.clients[sources[i]].ssrc
            plaintext.index = self.clients[sources[i]].index - <uint16_t>(
                self.clients[sources[i]].index - load16(self.incoming + i * LIMIT_BYTES + 2))
            n = seal(client.outbound, out + total, &plaintext)
            total += n
        if total:
            limit_add(&self.outbox, to, out, total, length)


cdef inline void copy_header(uint8_t* out, const uint8_t* packet) noexcept nogil:
    cdef int i
    for i in range(HEADER):
        out[i] = packet[i]
