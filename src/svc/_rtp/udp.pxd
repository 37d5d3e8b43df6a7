"""Declares the functions in udp.h, which hide how UDP differs between systems and do not depend on the
engine.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef extern from "udp.h":
    enum:
        SVC_BATCH

    struct svc_datagram:
        uint8_t* data
        int length
        uint8_t remote[16]
        uint32_t scope
        uint16_t port
        uint8_t local[16]
        int64_t arrival

    int64_t svc_monotonic() nogil
    int64_t svc_realtime() nogil
    int svc_udp_open(const uint8_t* ip, uint16_t port) nogil
    int svc_udp_adopt(int fd) nogil
    int svc_udp_port(int fd) nogil
    int svc_udp_receive(int fd, svc_datagram* datagrams, int count, int fresh, bint portable) nogil
    int svc_udp_send(int fd, const svc_datagram* datagrams, int count, bint portable, int* segment, int* failed) nogil
    int svc_wait(const int* fds, int count, int full, int timeout_ms) nogil
    void svc_wait_for_room(int fd, int timeout_ms) nogil
    int svc_signal_open(int* fds) nogil
    void svc_signal(int fd) nogil
    void svc_clear_signal(int fd) nogil
    void svc_close(int fd) nogil
