/* The functions of udp.h, with Winsock: one system call carries one datagram, the kernel gives no arrival
 * times, and a pair of loopback sockets wakes a waiting thread, because nothing else can be waited for
 * together with sockets. Descriptors are SOCKETs stored as int: Windows handles have at most 32
 * significant bits. Compiled and checked against Windows' headers, but never run by us. udp.h is the only
 * user. */
#ifndef SVC_UDP_WINDOWS_H
#define SVC_UDP_WINDOWS_H

#include <errno.h>
#include <mswsock.h>
#ifndef SIO_UDP_CONNRESET
#define SIO_UDP_CONNRESET _WSAIOW(IOC_VENDOR, 12)
#endif

static inline int64_t svc_monotonic(void) {
    LARGE_INTEGER ticks, per_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_second);
    return ticks.QuadPart / per_second.QuadPart * 1000000000 +
           ticks.QuadPart % per_second.QuadPart * 1000000000 / per_second.QuadPart;
}

/* Return ns since 1970, from units of 100 ns since 1601. */
static inline int64_t svc_realtime(void) {
    FILETIME t;
    GetSystemTimeAsFileTime(&t);
    return (((int64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) - 116444736000000000) * 100;
}

static inline SOCKET svc_socket(int fd) { return (SOCKET)(unsigned int)fd; }

static inline void svc_close(int fd) { (void)closesocket(svc_socket(fd)); }

static inline int svc_fail(int fd) {
    int error = WSAGetLastError();
    svc_close(fd);
    return -error;
}

static inline void svc_set(int fd, int level, int option, int value) {
    setsockopt(svc_socket(fd), level, option, (const char *)&value, sizeof value);
}

/* Create an unbound non-blocking socket. Return its descriptor, or minus Winsock's error. */
static inline int svc_new_socket(int family) {
    WSADATA winsock;
    SOCKET made;
    u_long on = 1;
    DWORD nothing;
    BOOL off = FALSE;
    int error = WSAStartup(MAKEWORD(2, 2), &winsock);
    if (error)
        return -error;
    made = WSASocketW(family, SOCK_DGRAM, IPPROTO_UDP, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (made == INVALID_SOCKET)
        return -WSAGetLastError();
    ioctlsocket(made, (long)FIONBIO, &on);
    /* Otherwise an ICMP "port unreachable" message makes our next receive fail. */
    WSAIoctl(made, SIO_UDP_CONNRESET, &off, sizeof off, NULL, 0, &nothing, NULL, NULL);
    return (int)made;
}

static inline int svc_udp_open(const uint8_t ip[16], uint16_t port) {
    union svc_name name;
    socklen_t length = svc_write_name(&name, ip, port, 0);
    int v4 = svc_is_v4(ip), fd = svc_new_socket(v4 ? AF_INET : AF_INET6);
    if (fd < 0)
        return fd;
    svc_set(fd, SOL_SOCKET, SO_RCVBUF, SVC_SOCKET_BUFFER);
    svc_set(fd, SOL_SOCKET, SO_SNDBUF, SVC_SOCKET_BUFFER);
    svc_set(fd, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 1);
    if (v4)
        svc_set(fd, IPPROTO_IP, IP_PKTINFO, 1);
    else {
        svc_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
        svc_set(fd, IPPROTO_IPV6, IPV6_PKTINFO, 1);
    }
    return bind(svc_socket(fd), &name.any, length) ? svc_fail(fd) : fd;
}

/* Sockets are passed between processes on POSIX systems only. */
static inline int svc_udp_adopt(int fd) {
    (void)fd;
    return -WSAEOPNOTSUPP;
}

static inline int svc_udp_port(int fd) {
    union svc_name name;
    socklen_t length = sizeof name;
    if (getsockname(svc_socket(fd), &name.any, &length))
        return -WSAGetLastError();
    return svc_port_of(&name);
}

/* The data of one system call for one datagram. */
struct svc_message {
    union svc_name name;
    WSABUF data;
    union { WSACMSGHDR align; char bytes[SVC_CONTROL]; } control;
    WSAMSG header;
};

static inline void svc_prepare(struct svc_message *m, const struct svc_datagram *d) {
    memset(m, 0, sizeof *m);
    m->data.buf = (char *)d->data;
    m->data.len = (ULONG)d->length;
    m->header.name = &m->name.any;
    m->header.namelen = sizeof m->name;
    m->header.lpBuffers = &m->data;
    m->header.dwBufferCount = 1;
    m->header.Control.buf = m->control.bytes;
    m->header.Control.len = sizeof m->control.bytes;
}

static inline void svc_read_local(struct svc_datagram *d, WSAMSG *h) {
    WSACMSGHDR *c;
    memset(d->local, 0, 16);
    for (c = WSA_CMSG_FIRSTHDR(h); c; c = WSA_CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            memcpy(d->local, svc_mapped, 12);
            memcpy(d->local + 12, &((struct in_pktinfo *)WSA_CMSG_DATA(c))->ipi_addr, 4);
        }
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO)
            memcpy(d->local, &((struct in6_pktinfo *)WSA_CMSG_DATA(c))->ipi6_addr, 16);
    }
}

/* Get WSARecvMsg from the socket, because it cannot be linked by name. Return NULL if it is missing. */
static inline LPFN_WSARECVMSG svc_receive_function(int fd) {
    GUID id = WSAID_WSARECVMSG;
    LPFN_WSARECVMSG found = NULL;
    DWORD bytes = 0;
    WSAIoctl(svc_socket(fd), SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof id, &found, sizeof found, &bytes, NULL,
             NULL);
    return found;
}

static inline int svc_udp_receive(int fd, struct svc_datagram *d, int count, int fresh, int portable) {
    LPFN_WSARECVMSG receive = svc_receive_function(fd);
    struct svc_message m;
    DWORD length;
    int i;
    (void)fresh;
    (void)portable;
    for (i = 0; receive && i < count; i++) {
        svc_prepare(&m, &d[i]);
        length = 0;
        if (receive(svc_socket(fd), &m.header, &length, NULL, NULL) == 0)
            d[i].length = m.header.dwFlags & MSG_TRUNC ? -1 : (int)length;
        else if (WSAGetLastError() == WSAEMSGSIZE)
            d[i].length = -1;
        else
            break;
        d[i].arrival = 0;
        svc_read_name(&d[i], &m.name);
        svc_read_local(&d[i], &m.header);
    }
    return i;
}

/* Send a datagram from the address that was contacted. */
static inline void svc_write_local(struct svc_message *m, const struct svc_datagram *d) {
    WSACMSGHDR *c = WSA_CMSG_FIRSTHDR(&m->header);
    if (memcmp(d->local, svc_nowhere, 16) == 0) {
        m->header.Control.buf = NULL;
        m->header.Control.len = 0;
    } else if (svc_is_v4(d->remote)) {
        c->cmsg_level = IPPROTO_IP;
        c->cmsg_type = IP_PKTINFO;
        c->cmsg_len = WSA_CMSG_LEN(sizeof(struct in_pktinfo));
        memcpy(&((struct in_pktinfo *)WSA_CMSG_DATA(c))->ipi_addr, d->local + 12, 4);
        m->header.Control.len = (ULONG)WSA_CMSG_SPACE(sizeof(struct in_pktinfo));
    } else {
        c->cmsg_level = IPPROTO_IPV6;
        c->cmsg_type = IPV6_PKTINFO;
        c->cmsg_len = WSA_CMSG_LEN(sizeof(struct in6_pktinfo));
        memcpy(&((struct in6_pktinfo *)WSA_CMSG_DATA(c))->ipi6_addr, d->local, 16);
        m->header.Control.len = (ULONG)WSA_CMSG_SPACE(sizeof(struct in6_pktinfo));
    }
}

static inline int svc_udp_send(int fd, const struct svc_datagram *d, int count, int portable, int *segment, int *failed) {
    struct svc_message m;
    DWORD sent;
    int i, error;
    (void)portable;
    (void)segment;
    for (i = 0; i < count; i++) {
        svc_prepare(&m, &d[i]);
        m.header.namelen = svc_write_name(&m.name, d[i].remote, d[i].port, d[i].scope);
        svc_write_local(&m, &d[i]);
        if (WSASendMsg(svc_socket(fd), &m.header, 0, &sent, NULL, NULL) == 0)
            continue;
        error = WSAGetLastError();
        if (error == WSAEWOULDBLOCK || error == WSAENOBUFS) {
            errno = error == WSAENOBUFS ? ENOBUFS : EAGAIN;
            return i;
        }
        ++*failed;
    }
    return count;
}

static inline int svc_wait(const int *fds, int count, int full, int timeout_ms) {
    WSAPOLLFD polled[4];
    int i, readable = 0;
    for (i = 0; i < count; i++) {
        polled[i].fd = svc_socket(fds[i]);
        polled[i].events = (short)(fds[i] == full ? POLLRDNORM | POLLWRNORM : POLLRDNORM);
        polled[i].revents = 0;
    }
    if (WSAPoll(polled, (ULONG)count, timeout_ms) > 0)
        for (i = 0; i < count; i++)
            readable |= (polled[i].revents & (POLLRDNORM | POLLERR) ? 1 : 0) << i;
    return readable;
}

static inline void svc_wait_for_room(int fd, int timeout_ms) {
    WSAPOLLFD polled = {svc_socket(fd), POLLWRNORM, 0};
    if (fd < 0)
        Sleep((DWORD)timeout_ms);
    else
        (void)WSAPoll(&polled, 1, timeout_ms);
}

/* Both sockets are connected to each other, so that nobody else can wake us. */
static inline int svc_signal_open(int fds[2]) {
    static const uint8_t loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1};
    union svc_name names[2];
    socklen_t length = 0;
    int i, error;
    for (i = 0; i < 2; i++) {
        fds[i] = svc_udp_open(loopback, 0);
        if (fds[i] < 0)
            break;
        length = svc_write_name(&names[i], loopback, (uint16_t)svc_udp_port(fds[i]), 0);
    }
    if (i == 2 && connect(svc_socket(fds[0]), &names[1].any, length) == 0 &&
        connect(svc_socket(fds[1]), &names[0].any, length) == 0)
        return 0;
    error = i < 2 ? fds[i] : -WSAGetLastError();
    while (i-- > 0)
        svc_close(fds[i]);
    fds[0] = fds[1] = -1;
    return error;
}

static inline void svc_signal(int fd) { (void)send(svc_socket(fd), "", 1, 0); }

static inline void svc_clear_signal(int fd) {
    char scratch[1];
    while (recv(svc_socket(fd), scratch, sizeof scratch, 0) > 0) {
    }
}

#endif
