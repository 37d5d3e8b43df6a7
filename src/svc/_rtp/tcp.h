/* TCP for media: listening, connections that never block, and one descriptor to wait for all of them. Only
 * Linux has the required features (epoll, and a limit on unsent data in the kernel). Elsewhere SVC_TCP is 0,
 * nothing listens, and calls use UDP only. Does not deal with framing. */
#ifndef SVC_TCP_H
#define SVC_TCP_H

#include "udp.h"

enum {
    SVC_TCP_BACKLOG = 512,
    SVC_TCP_READY = 64,      /* connections handled per iteration */
    SVC_TCP_UNSENT = 16384,  /* unsent bytes in the kernel: only data in our queues can be overtaken or dropped */
    SVC_TCP_TIMEOUT = 30000  /* ms: the same as consent (RFC 7675) */
};

/* The address of a peer, and our address that it contacted; IPv4 mapped into IPv6. */
struct svc_tcp_peer {
    uint8_t remote[16];
    uint32_t scope;
    uint16_t port;
    uint8_t local[16];
};

struct svc_tcp_frame {
    const uint8_t *data;
    uint16_t length;
};

struct svc_tcp_ready {
    uint32_t id;
    int readable; /* or closed by the peer, as the next read will show */
    int writable;
};

#ifdef SVC_LINUX
#include <netinet/tcp.h>
#include <sys/epoll.h>

enum { SVC_TCP = 1 };

/* Listen at an address (16 bytes, IPv4 mapped). Return the descriptor, or -errno. */
static inline int svc_tcp_listen(const uint8_t ip[16], uint16_t port) {
    int v4 = svc_is_v4(ip), on = 1, result;
    union svc_name name;
    socklen_t length = svc_write_name(&name, ip, port, 0);
    int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    /* Old connections of a stopped service must not block the port. Two listeners never share it. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!v4)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, &name.any, length) < 0 || listen(fd, SVC_TCP_BACKLOG) < 0) {
        result = -errno;
        close(fd);
        return result;
    }
    return fd;
}

/* Return the next connection, or -1 if none is waiting. */
static inline int svc_tcp_accept(int listener, struct svc_tcp_peer *peer) {
    struct svc_datagram where;
    union svc_name name;
    socklen_t length = sizeof name;
    int on = 1, unsent = SVC_TCP_UNSENT, timeout = SVC_TCP_TIMEOUT;
    int fd = accept4(listener, &name.any, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -1;
    svc_read_name(&where, &name);
    memcpy(peer->remote, where.remote, 16);
    peer->scope = where.scope;
    peer->port = where.port;
    memset(peer->local, 0, 16);
    length = sizeof name;
    if (getsockname(fd, &name.any, &length) == 0) {
        svc_read_name(&where, &name);
        memcpy(peer->local, where.remote, 16);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
    return fd;
}

/* Return the number of bytes received: 0 if none are waiting, -1 if no further bytes will arrive. */
static inline int svc_tcp_receive(int fd, uint8_t *data, int size) {
    ssize_t got = recv(fd, data, (size_t)size, MSG_DONTWAIT);
    if (got > 0)
        return (int)got;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
}

static inline int svc_tcp_written(ssize_t sent) {
    if (sent >= 0)
        return (int)sent;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR ? 0 : -1;
}

/* Return the number of bytes accepted, perhaps 0; -1 if the connection has ended. */
static inline int svc_tcp_send(int fd, const uint8_t *data, int size) {
    return svc_tcp_written(send(fd, data, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/* Send `count` (<= SVC_BATCH) frames, each preceded by its length in two bytes (RFC 4571). */
static inline int svc_tcp_send_frames(int fd, const struct svc_tcp_frame *frames, int count) {
    uint8_t lengths[SVC_BATCH][2];
    struct iovec iov[2 * SVC_BATCH];
    struct msghdr header;
    int i;
    for (i = 0; i < count; i++) {
        lengths[i][0] = (uint8_t)(frames[i].length >> 8);
        lengths[i][1] = (uint8_t)frames[i].length;
        iov[2 * i].iov_base = lengths[i];
        iov[2 * i].iov_len = 2;
        iov[2 * i + 1].iov_base = (void *)(uintptr_t)frames[i].data;
        iov[2 * i + 1].iov_len = frames[i].length;
    }
    memset(&header, 0, sizeof header);
    header.msg_iov = iov;
    header.msg_iovlen = (svc_iovlen)(2 * count);
    return svc_tcp_written(sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/* Return a descriptor that is readable when any watched descriptor is ready; or -errno. */
static inline int svc_tcp_poller(void) {
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Start watching a descriptor, or change the watch. Return 0, or -1. */
static inline int svc_tcp_watch(int poller, int fd, uint32_t id, int added, int readable, int writable) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = (readable ? (uint32_t)EPOLLIN : 0u) | (writable ? (uint32_t)EPOLLOUT : 0u);
    event.data.u32 = id;
    return epoll_ctl(poller, added ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

/* List the ready descriptors. Return their number, at most SVC_TCP_READY. */
static inline int svc_tcp_ready_now(int poller, struct svc_tcp_ready *ready) {
    struct epoll_event events[SVC_TCP_READY];
    int i, count = epoll_wait(poller, events, SVC_TCP_READY, 0);
    for (i = 0; i < count; i++) {
        ready[i].id = events[i].data.u32;
        ready[i].readable = (events[i].events & (uint32_t)(EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
        ready[i].writable = (events[i].events & (uint32_t)EPOLLOUT) != 0;
    }
    return count < 0 ? 0 : count;
}

#else

enum { SVC_TCP = 0 };

static inline int svc_tcp_listen(const uint8_t ip[16], uint16_t port) { return (void)ip, (void)port, -1; }
static inline int svc_tcp_accept(int listener, struct svc_tcp_peer *peer) { return (void)listener, (void)peer, -1; }
static inline int svc_tcp_receive(int fd, uint8_t *data, int size) { return (void)fd, (void)data, (void)size, -1; }
static inline int svc_tcp_send(int fd, const uint8_t *data, int size) { return (void)fd, (void)data, (void)size, -1; }
static inline int svc_tcp_send_frames(int fd, const struct svc_tcp_frame *frames, int count) {
    return (void)fd, (void)frames, (void)count, -1;
}
static inline int svc_tcp_poller(void) { return -1; }
static inline int svc_tcp_watch(int poller, int fd, uint32_t id, int added, int readable, int writable) {
    return (void)poller, (void)fd, (void)id, (void)added, (void)readable, (void)writable, -1;
}
static inline int svc_tcp_ready_now(int poller, struct svc_tcp_ready *ready) { return (void)poller, (void)ready, 0; }

#endif
#endif
