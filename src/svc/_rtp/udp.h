/* The differences between systems in UDP: opening the mux socket, and batches of datagrams with their
 * destination address and arrival time. Linux has recvmmsg and sendmmsg. Elsewhere, and on Linux with
 * `portable`, one system call carries one datagram. Where Linux supports it, a run of equal-sized
 * datagrams to one receiver is one message, which the kernel segments. udp_windows.h does the same for
 * Windows. With SVC_PORTABLE, Linux is compiled like macOS and the BSDs, so that their code can be tested. */
#ifndef SVC_UDP_H
#define SVC_UDP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __APPLE_USE_RFC_3542
#define __APPLE_USE_RFC_3542 /* otherwise macOS has no IPV6_RECVPKTINFO */
#endif
#include <stdint.h>
#include <string.h>
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#endif

#if defined(__linux__) && !defined(SVC_PORTABLE)
#define SVC_LINUX
#include <sys/eventfd.h>
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* linux/udp.h, since 4.18 */
#endif
#endif

enum {
    SVC_BATCH = 64,
    SVC_CONTROL = 96, /* IPv6: destination (40), arrival time (32) */
    SVC_SOCKET_BUFFER = 4 << 20,
    SVC_SEGMENTS = 64, /* the smallest limit of any kernel for one message */
    SVC_MESSAGE = 65000 /* bytes of one message: an IP datagram with its headers */
};

struct svc_datagram {
    uint8_t *data;
    int length;         /* capacity before receiving; afterwards -1 if the datagram did not fit */
    uint8_t remote[16]; /* IPv4 mapped into IPv6 */
    uint32_t scope;
    uint16_t port;
    uint8_t local[16];  /* all zero = the kernel chooses */
    int64_t arrival;    /* ns, realtime; 0 = not given by the kernel */
};

static const uint8_t svc_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
static const uint8_t svc_nowhere[16];

static inline int svc_is_v4(const uint8_t ip[16]) { return memcmp(ip, svc_mapped, 12) == 0; }

/* A socket address, in a fifth of the size of sockaddr_storage, because many are read. */
union svc_name {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Write an address (16 bytes, IPv4 mapped) and return its length. */
static inline socklen_t svc_write_name(union svc_name *name, const uint8_t ip[16], uint16_t port, uint32_t scope) {
    if (svc_is_v4(ip)) {
        struct sockaddr_in *a = &name->v4;
        memset(a, 0, sizeof *a);
        a->sin_family = AF_INET;
        a->sin_port = htons(port);
        memcpy(&a->sin_addr, ip + 12, 4);
        return sizeof *a;
    } else {
        struct sockaddr_in6 *a = &name->v6;
        memset(a, 0, sizeof *a);
        a->sin6_family = AF_INET6;
        a->sin6_port = htons(port);
        a->sin6_scope_id = scope;
        memcpy(&a->sin6_addr, ip, 16);
        return sizeof *a;
    }
}

/* Read the source address of a datagram. */
static inline void svc_read_name(struct svc_datagram *d, const union svc_name *name) {
    if (name->any.sa_family == AF_INET) {
        memcpy(d->remote, svc_mapped, 12);
        memcpy(d->remote + 12, &name->v4.sin_addr, 4);
        d->port = ntohs(name->v4.sin_port);
        d->scope = 0;
    } else {
        memcpy(d->remote, &name->v6.sin6_addr, 16);
        d->port = ntohs(name->v6.sin6_port);
        d->scope = name->v6.sin6_scope_id;
    }
}

static inline uint16_t svc_port_of(const union svc_name *name) {
    return ntohs(name->any.sa_family == AF_INET ? name->v4.sin_port : name->v6.sin6_port);
}

#ifdef _WIN32
#include "udp_windows.h"
#else

static inline int64_t svc_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline int64_t svc_monotonic(void) { return svc_clock(CLOCK_MONOTONIC); }
static inline int64_t svc_realtime(void) { return svc_clock(CLOCK_REALTIME); }

/* Set the options of a socket, whether we or someone else opened it. */
static inline void svc_udp_prepare(int fd, int v4) {
    int on = 1, size = SVC_SOCKET_BUFFER;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
#ifdef SVC_LINUX
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
#else
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on);
#endif
    if (v4) {
#ifdef IP_PKTINFO
        setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
#endif
    } else {
#ifdef IPV6_RECVPKTINFO
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
#endif
    }
}

/* Bind a socket to an address (16 bytes, IPv4 mapped). Return its descriptor, or -errno. The port is never
 * shared: SO_REUSEPORT stays off, so that a second service on the port fails to start. */
static inline int svc_udp_open(const uint8_t ip[16], uint16_t port) {
    int v4 = svc_is_v4(ip), on = 1, result;
    union svc_name name;
    socklen_t length = svc_write_name(&name, ip, port, 0);
    int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
    if (fd < 0)
        return -errno;
    svc_udp_prepare(fd, v4);
    if (!v4)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    result = bind(fd, &name.any, length);
    if (result < 0) {
        result = -errno;
        close(fd);
        return result;
    }
    return fd;
}

/* Adopt a bound socket opened by someone else. Return 1 for IPv4, 0 for IPv6, which must not also carry
 * IPv4. */
static inline int svc_udp_adopt(int fd) {
    union svc_name name;
    socklen_t length = sizeof name, size = sizeof(int);
    int v4, only = 0;
    if (getsockname(fd, &name.any, &length) < 0)
        return -errno;
    v4 = name.any.sa_family == AF_INET;
    if (!v4 && (getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &size) < 0 || !only))
        return -EINVAL;
    svc_udp_prepare(fd, v4);
    return v4;
}

static inline int svc_udp_port(int fd) {
    union svc_name name;
    socklen_t length = sizeof name;
    if (getsockname(fd, &name.any, &length) < 0)
        return -errno;
    return svc_port_of(&name);
}

/* The types of two msghdr fields, which are wider in glibc than in POSIX. */
#ifdef __GLIBC__
typedef size_t svc_iovlen;
typedef size_t svc_controllen;
#else
typedef int svc_iovlen;
typedef socklen_t svc_controllen;
#endif

/* The data of one system call for one datagram. */
struct svc_message {
    union svc_name name;
    struct iovec iov;
    union { struct cmsghdr align; uint8_t bytes[SVC_CONTROL]; } control;
};

static inline void svc_prepare_receive(struct svc_datagram *d, struct svc_message *m, struct msghdr *h) {
    m->iov.iov_base = d->data;
    m->iov.iov_len = (size_t)d->length;
    memset(h, 0, sizeof *h);
    h->msg_name = &m->name;
    h->msg_namelen = sizeof m->name;
    h->msg_iov = &m->iov;
    h->msg_iovlen = 1;
    h->msg_control = m->control.bytes;
    h->msg_controllen = sizeof m->control.bytes;
}

static inline void svc_read_received(struct svc_datagram *d, struct svc_message *m, struct msghdr *h, int length) {
    struct cmsghdr *c;
    d->length = h->msg_flags & MSG_TRUNC ? -1 : length;
    d->arrival = 0;
    memset(d->local, 0, 16);
    svc_read_name(d, &m->name);
    for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
#ifdef IP_PKTINFO
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            memcpy(d->local, svc_mapped, 12);
            memcpy(d->local + 12, &((struct in_pktinfo *)CMSG_DATA(c))->ipi_addr, 4);
        }
#endif
#ifdef IPV6_PKTINFO
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO)
            memcpy(d->local, &((struct in6_pktinfo *)CMSG_DATA(c))->ipi6_addr, 16);
#endif
#ifdef SVC_LINUX
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            d->arrival = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
        }
#else
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMP) {
            struct timeval t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            d->arrival = (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
        }
#endif
    }
}

/* Write one control message and return its size. CMSG_NXTHDR would require clearing all control messages
 * first. */
static inline size_t svc_put_control(uint8_t *at, int level, int type, const void *data, size_t size) {
    struct cmsghdr *c = (struct cmsghdr *)at;
    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = (svc_controllen)CMSG_LEN(size);
    memcpy(CMSG_DATA(c), data, size);
    return CMSG_SPACE(size);
}

/* Respond from the address that was contacted, because browsers check every address. */
static inline size_t svc_put_local(uint8_t *at, const struct svc_datagram *d) {
    if (memcmp(d->local, svc_nowhere, 16) == 0)
        return 0;
    if (svc_is_v4(d->remote)) {
#ifdef IP_PKTINFO
        struct in_pktinfo info;
        memset(&info, 0, sizeof info);
        memcpy(&info.ipi_spec_dst, d->local + 12, 4);
        return svc_put_control(at, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
#endif
    } else {
#ifdef IPV6_PKTINFO
        struct in6_pktinfo info;
        memset(&info, 0, sizeof info);
        memcpy(&info.ipi6_addr, d->local, 16);
        return svc_put_control(at, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
#endif
    }
    return 0;
}

/* Fill in one message of `run` datagrams to one address. Several datagrams are segments of one size,
 * except that the last may be shorter. The kernel separates them (generic segmentation offload). */
static inline void svc_prepare_send(const struct svc_datagram *d, int run, struct svc_message *m, struct iovec *iov,
                             struct msghdr *h) {
    size_t control;
    int i;
    for (i = 0; i < run; i++) {
        iov[i].iov_base = d[i].data;
        iov[i].iov_len = (size_t)d[i].length;
    }
    memset(h, 0, sizeof *h);
    h->msg_name = &m->name;
    h->msg_iov = iov;
    h->msg_iovlen = (svc_iovlen)run;
    h->msg_namelen = svc_write_name(&m->name, d->remote, d->port, d->scope);
    control = svc_put_local(m->control.bytes, d);
#ifdef SVC_LINUX
    if (run > 1) {
        uint16_t size = (uint16_t)d->length;
        control += svc_put_control(m->control.bytes + control, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size);
    }
#endif
    h->msg_controllen = (svc_controllen)control;
    if (control)
        h->msg_control = m->control.bytes;
}

/* Receive up to `count` (<= SVC_BATCH) waiting datagrams. Return their number, or 0 if none are waiting.
 * The entries after the first `fresh` are unused and unchanged since the last call: with few datagrams at a
 * time, preparing all entries would cost more than receiving. */
static inline int svc_udp_receive(int fd, struct svc_datagram *d, int count, int fresh, int portable) {
    static __thread struct svc_message messages[SVC_BATCH];
    int i, n;
#ifdef SVC_LINUX
    static __thread struct mmsghdr headers[SVC_BATCH];
    if (!portable) {
        for (i = 0; i < fresh; i++)
            svc_prepare_receive(&d[i], &messages[i], &headers[i].msg_hdr);
        n = recvmmsg(fd, headers, (unsigned)count, MSG_DONTWAIT, NULL);
        for (i = 0; i < n; i++)
            svc_read_received(&d[i], &messages[i], &headers[i].msg_hdr, (int)headers[i].msg_len);
        return n < 0 ? 0 : n;
    }
#endif
    (void)fresh;
    (void)portable;
    for (i = 0; i < count; i++) {
        struct msghdr header;
        svc_prepare_receive(&d[i], &messages[i], &header);
        n = (int)recvmsg(fd, &header, MSG_DONTWAIT);
        if (n < 0)
            break;
        svc_read_received(&d[i], &messages[i], &header, n);
    }
    return i;
}

#ifdef SVC_LINUX
/* Return how many datagrams from d on can be segments of one message: they have the same addresses and the
 * same size, except that the last may be shorter. */
static inline int svc_run(const struct svc_datagram *d, int count) {
    int run = 1, total = d->length;
    while (run < count && run < SVC_SEGMENTS && d[run].length <= d->length && total + d[run].length <= SVC_MESSAGE &&
           d[run].port == d->port && memcmp(d[run].remote, d->remote, 16) == 0 &&
           memcmp(d[run].local, d->local, 16) == 0) {
        total += d[run].length;
        run++;
        if (d[run - 1].length < d->length)
            break;
    }
    return run;
}
#endif

static inline int svc_send_one(int fd, const struct svc_datagram *d) {
    struct svc_message message;
    struct iovec iov;
    struct msghdr header;
    svc_prepare_send(d, 1, &message, &iov, &header);
    return sendmsg(fd, &header, MSG_DONTWAIT) < 0 ? -1 : 0;
}

/* Return whether sending failed because there is no space now, rather than because of the datagram itself. */
static inline int svc_is_full(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS; }

/* Send datagrams singly. Return how many are done, sent or failed: fewer than `count` if space runs out. */
static inline int svc_send_singly(int fd, const struct svc_datagram *d, int count, int *failed) {
    int i;
    for (i = 0; i < count; i++)
        if (svc_send_one(fd, &d[i]) < 0) {
            if (svc_is_full(errno))
                return i;
            ++*failed; /* No route, for example: this datagram fails, but others might not. */
        }
    return count;
}

/* Send `count` (<= SVC_BATCH) datagrams. Return how many are done, sent or failed (`*failed` counts the
 * failed): fewer than `count` if the system refuses more for now; errno gives the reason. `*segment`:
 * whether runs of equal sizes may be one message; cleared permanently if the system does not support it. */
static inline int svc_udp_send(int fd, const struct svc_datagram *d, int count, int portable, int *segment, int *failed) {
#ifdef SVC_LINUX
    static __thread struct svc_message messages[SVC_BATCH];
    static __thread struct iovec iovs[SVC_BATCH];
    static __thread struct mmsghdr headers[SVC_BATCH];
    int first[SVC_BATCH + 1];
    int i, n = 0, sent, done;
    if (!portable) {
        for (i = 0; i < count; i = first[n]) {
            int run = *segment ? svc_run(d + i, count - i) : 1;
            svc_prepare_send(d + i, run, &messages[n], &iovs[i], &headers[n].msg_hdr);
            first[n++] = i;
            first[n] = i + run;
        }
        for (i = 0; i < n; i += sent) {
            sent = sendmmsg(fd, headers + i, (unsigned)(n - i), MSG_DONTWAIT);
            if (sent > 0)
                continue;
            if (svc_is_full(errno))
                return first[i];
            /* EINVAL might only mean that the route to this receiver does not carry packets of that size. */
            if (first[i + 1] - first[i] > 1 && (errno == EIO || errno == ENOPROTOOPT))
                *segment = 0;
            done = svc_send_singly(fd, d + first[i], first[i + 1] - first[i], failed);
            if (done < first[i + 1] - first[i])
                return first[i] + done;
            sent = 1;
        }
        return count;
    }
#endif
    (void)portable;
    (void)segment;
    return svc_send_singly(fd, d, count, failed);
}

/* Wait until one of up to four descriptors is readable, or `full` (-1: none) is writable, at most
 * timeout_ms. Return one bit per readable descriptor. */
static inline int svc_wait(const int *fds, int count, int full, int timeout_ms) {
    struct pollfd polled[4];
    int i, readable = 0;
    for (i = 0; i < count; i++) {
        polled[i].fd = fds[i];
        polled[i].events = (short)(fds[i] == full ? POLLIN | POLLOUT : POLLIN);
        polled[i].revents = 0;
    }
    if (poll(polled, (nfds_t)count, timeout_ms) > 0)
        for (i = 0; i < count; i++)
            readable |= (polled[i].revents & (POLLIN | POLLERR) ? 1 : 0) << i;
    return readable;
}

/* Wait until a socket accepts more, at most timeout_ms; the full time if no socket is full (-1). */
static inline void svc_wait_for_room(int fd, int timeout_ms) {
    struct pollfd polled = {fd, POLLOUT, 0};
    (void)poll(&polled, 1, timeout_ms);
}

/* Create two non-blocking descriptors: signalling the second makes the first readable. Return 0, or
 * -errno. */
static inline int svc_signal_open(int fds[2]) {
#ifdef SVC_LINUX
    fds[0] = fds[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fds[0] < 0 ? -errno : 0;
#else
    int i;
    if (pipe(fds) < 0)
        return -errno;
    for (i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
#endif
}

static inline void svc_signal(int fd) {
    uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof one);
    (void)written;
}

static inline void svc_clear_signal(int fd) {
    uint8_t scratch[512];
    ssize_t got = read(fd, scratch, sizeof scratch);
    (void)got;
}

static inline void svc_close(int fd) { (void)close(fd); }

#endif
#endif
