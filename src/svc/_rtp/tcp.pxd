"""Declares the functions in tcp.h, which implement TCP for media on Linux and do not depend on the engine."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef extern from "tcp.h":
    enum:
        SVC_TCP
        SVC_TCP_READY

    struct svc_tcp_peer:
        uint8_t remote[16]
        uint32_t scope
        uint16_t port
        uint8_t local[16]

    struct svc_tcp_frame:
        const uint8_t* data
        uint16_t length

    struct svc_tcp_ready:
        uint32_t id
        int readable
        int writable

    int svc_tcp_listen(const uint8_t* ip, uint16_t port) nogil
    int svc_tcp_accept(int listener, svc_tcp_peer* peer) nogil
    int svc_tcp_receive(int fd, uint8_t* data, int size) nogil
    int svc_tcp_send(int fd, const uint8_t* data, int size) nogil
    int svc_tcp_send_frames(int fd, const svc_tcp_frame* frames, int count) nogil
    int svc_tcp_poller() nogil
    int svc_tcp_watch(int poller, int fd, uint32_t id, bint added, bint readable, bint writable) nogil
    int svc_tcp_ready_now(int poller, svc_tcp_ready* ready) nogil
