"""Serves the media port's TCP connections: accepts, reads and writes (steps 1 and 9 of a packet's journey).

Runs in the core's thread and never blocks. Received frames are copied into slots and then handled like
datagrams. Outgoing frames are written from the batch, as far as the kernel accepts them. The rest are queued
in the connection as whole frames, with video last. A slow or stalled reader therefore delays no other
receiver. `streams` decides which connections may stay, and `tcp_admission` decides which packets a slow
connection gets.
"""

from libc.string cimport memcpy, memset

from svc._rtp.address cimport Path
from svc._rtp.commands cimport forget_stream
from svc._rtp.core cimport fall_due
from svc._rtp.framing cimport BROKEN, INCOMPLETE, FrameQueue, hold, next_frame, put, resume, take
from svc._rtp.ingress cimport received
from svc._rtp.pool cimport Slot, acquire, release
from svc._rtp.streams cimport (
    MAX_STREAMS, MAX_UNPROVEN_FRAMES, MAX_BULK_BYTES, MAX_URGENT_BYTES, SLACK, Stream, add, destroy, doom, find, make_way, refuse,
    remove_doomed, sweep,
)
from svc._rtp.stun cimport BINDING_REQUEST, message_type
from svc._rtp.tcp cimport (
    SVC_TCP_READY, svc_tcp_accept, svc_tcp_listen, svc_tcp_peer, svc_tcp_poller, svc_tcp_ready, svc_tcp_ready_now,
    svc_tcp_receive, svc_tcp_send, svc_tcp_send_frames, svc_tcp_watch,
)
from svc._rtp.udp cimport svc_close

cdef enum:
    # The number of frames read before anything is sent, as for datagrams (udploop).
    FRAMES_PER_TURN = 256
    ACCEPTED_PER_TURN = 32
# The pause before accepting more connections during a flood (ns). It limits them to 3200 per second.
cdef int64_t REST = 10_000_000


cdef int open(StreamIO* io, const uint8_t* ip, uint16_t port) noexcept nogil:
    """Listen at an address. Return the descriptor, or -errno."""
    cdef int fd = svc_tcp_listen(ip, port)
    cdef int failed
    if fd < 0:
        return fd
    failed = adopt(io, fd)
    if failed < 0:
        svc_close(fd)
        return failed
    return fd


cdef int adopt(StreamIO* io, int fd) noexcept nogil:
    """Accept connections on a listening socket. Return 0 and take ownership, or return a negative error."""
    if io.poller < 0:
        io.poller = svc_tcp_poller()
        if io.poller < 0:
            return io.poller
    if io.listener_count == 2 or svc_tcp_watch(io.poller, fd, io.listener_count, True, True, False) < 0:
        return -1
    io.listeners[io.listener_count] = fd
    io.listener_count += 1
    return 0


cdef void close(StreamIO* io) noexcept nogil:
    """Close all connections and sockets, after the thread has ended."""
    cdef Stream* stream
    cdef uint32_t i
    for i in range(<uint32_t>MAX_STREAMS):
        stream = io.streams.slots[i]
        if stream != NULL:
            svc_close(stream.fd)
            destroy(stream)
            io.streams.slots[i] = NULL
    for i in range(io.listener_count):
        svc_close(io.listeners[i])
    if io.poller >= 0:
        svc_close(io.poller)
    io.listener_count = 0
    io.poller = -1


# --- incoming ---


cdef void turn(StreamIO* io, Core* core) noexcept nogil:
    """Serve the connections that are ready, for one iteration."""
    cdef svc_tcp_ready ready[SVC_TCP_READY]
    cdef Stream* stream
    cdef int count, i, left = FRAMES_PER_TURN
    count = svc_tcp_ready_now(io.poller, ready)
    for i in range(count):
        if ready[i].id < io.listener_count:
            accept_waiting(io, core, io.listeners[ready[i].id])
            continue
        stream = find(&io.streams, ready[i].id)
        if stream == NULL:
            continue
        if ready[i].writable:
            write_waiting(io, stream)
        if ready[i].readable and left > 0:
            left -= read(io, core, stream)
    close_doomed(io, core)


cdef void tidy(StreamIO* io, Core* core) noexcept nogil:
    """Run periodic work."""
    if io.resting and core.now >= io.rests_until:
        watch_listeners(io, True)
    sweep(&io.streams)
    close_doomed(io, core)


cdef void accept_waiting(StreamIO* io, Core* core, int listener) noexcept nogil:
    cdef svc_tcp_peer peer
    cdef Path path
    cdef Stream* stream
    cdef int fd, i
    for i in range(ACCEPTED_PER_TURN):
        fd = svc_tcp_accept(listener, &peer)
        if fd < 0:
            # No connection is waiting, or the system has run out of descriptors, so retrying immediately
            # would not help.
            if i > 0:
                return
            break
        memset(&path, 0, sizeof(Path))
        memcpy(path.remote.ip, peer.remote, 16)
        path.remote.scope = peer.scope
        path.remote.port = peer.port
        memcpy(path.local.ip, peer.local, 16)
        make_way(&io.streams, &path.remote)
        close_doomed(io, core)
        stream = add(&io.streams, fd, &path)
        if stream == NULL:
            io.streams.refused += 1
            svc_close(fd)
        elif svc_tcp_watch(io.poller, fd, stream.id, True, True, False) < 0:
            doom(&io.streams, stream)
    watch_listeners(io, False)
    io.rests_until = core.now + REST
    fall_due(core, io.rests_until, 0)


cdef void watch_listeners(StreamIO* io, bint watched) noexcept nogil:
    cdef uint32_t i
    io.resting = not watched
    for i in range(io.listener_count):
        svc_tcp_watch(io.poller, io.listeners[i], i, False, watched, False)


cdef int read(StreamIO* io, Core* core, Stream* stream) noexcept nogil:
    """Read once from a connection. Return the number of frames plus one."""
    cdef size_t length = resume(&stream.input, io.piece), at = 0
    cdef int got = svc_tcp_receive(stream.fd, io.piece + length, READ_BYTES)
    cdef const uint8_t* frame = NULL
    cdef int size, frames = 1
    if got <= 0:
        if got < 0:
            doom(&io.streams, stream)
        return frames
    length += <size_t>got
    if stream.proven:
        stream.heard_at = core.now
    while not stream.doomed:
        size = next_frame(io.piece, length, &at, &frame)
        if size == INCOMPLETE:
            hold(&stream.input, io.piece + at, length - at)
            break
        if size == BROKEN or not (stream.proven or may_be_proof(stream, frame, size)):
            refuse(&io.streams, stream)
            break
        take_in(core, stream, frame, size)
        frames += 1
    return frames


cdef bint may_be_proof(Stream* stream, const uint8_t* frame, int size) noexcept nogil:
    """Return whether a frame may prove its connection, because it is a binding request and among the first
    few frames.
    """
    stream.frames += 1
    return stream.frames <= MAX_UNPROVEN_FRAMES and message_type(frame, <size_t>size) == BINDING_REQUEST


cdef void take_in(Core* core, Stream* stream, const uint8_t* frame, int size) noexcept nogil:
    cdef Slot* slot = acquire(&core.pool)
    if slot == NULL:
        core.counters.dropped_pool_exhausted += 1
        return
    memcpy(slot.data, frame, <size_t>size)
    slot.length = <uint16_t>size
    slot.arrival = core.now
    received(core, slot, &stream.path)
    release(&core.pool, slot)


cdef void close_doomed(StreamIO* io, Core* core) noexcept nogil:
    cdef Stream* stream = remove_doomed(&io.streams)
    while stream != NULL:
        if stream.proven:
            forget_stream(core, stream.id)
        svc_close(stream.fd)
        destroy(stream)
        stream = remove_doomed(&io.streams)


# --- outgoing ---


cdef uint32_t write_frames(StreamIO* io, Outgoing* batch, uint32_t count) noexcept nogil:
    """Write or queue the first frames in the batch, all of which go to one connection. Return their number.
    """
    cdef uint32_t stream_id = batch[0].path.remote.stream
    cdef uint32_t run = 0, left, i
    cdef int sent = 0
    cdef Stream* stream = find(&io.streams, stream_id)
    while run < count and run < SVC_BATCH and batch[run].path.remote.stream == stream_id:
        io.frames[run].data = batch[run].data
        io.frames[run].length = batch[run].length
        run += 1
    if stream == NULL:
        io.streams.failed += run
        return run
    if stream.urgent.length == 0 and stream.bulk.length == 0:
        sent = svc_tcp_send_frames(stream.fd, io.frames, <int>run)
        if sent < 0:
            io.streams.failed += run
            doom(&io.streams, stream)
            return run
    left = <uint32_t>sent
    for i in range(run):
        if left >= <uint32_t>PREFIX + batch[i].length:
            left -= <uint32_t>PREFIX + batch[i].length
        else:
            keep(io, stream, &batch[i], left)
            left = 0
    if stream.urgent.length or stream.bulk.length:
        await_room(io, stream, True)
    return run


cdef void keep(StreamIO* io, Stream* stream, const Outgoing* outgoing, uint32_t gone) noexcept nogil:
    """Queue a frame. The first `gone` bytes have already been sent."""
    cdef FrameQueue* queue = &stream.bulk if outgoing.is_video else &stream.urgent
    cdef uint32_t limit = <uint32_t>(SLACK + (MAX_BULK_BYTES if outgoing.is_video else MAX_URGENT_BYTES))
    if outgoing.is_video and stream.bulk.length == 0:
        stream.bulk_since = io.streams.now
    if not put(queue, outgoing.data, outgoing.length, gone, limit):
        io.streams.failed += 1
        if gone:
            # Memory allocation failed, and the stream cannot continue in the middle of a frame.
            doom(&io.streams, stream)


cdef void write_waiting(StreamIO* io, Stream* stream) noexcept nogil:
    """Write the waiting frames: first the rest of a started frame, then everything except video, then
    video.
    """
    cdef FrameQueue* queue
    cdef uint32_t count
    cdef int sent
    while stream.urgent.length or stream.bulk.length:
        queue = &stream.urgent if stream.urgent.length and not stream.bulk.rest else &stream.bulk
        count = queue.rest if queue.rest and stream.urgent.length else queue.length
        sent = svc_tcp_send(stream.fd, queue.data + queue.head, <int>count)
        if sent < 0:
            doom(&io.streams, stream)
            return
        take(queue, <uint32_t>sent)
        if <uint32_t>sent < count:
            return
    await_room(io, stream, False)


cdef void await_room(StreamIO* io, Stream* stream, bint awaits) noexcept nogil:
    if stream.awaits_room == awaits or stream.doomed:
        return
    stream.awaits_room = <uint8_t>awaits
    if svc_tcp_watch(io.poller, stream.fd, stream.id, False, True, awaits) < 0:
        doom(&io.streams, stream)
