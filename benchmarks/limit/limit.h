/* The system calls of limit.pyx, prepared as far as possible: addresses are filled in once, and a receiver's
 * packets in a batch are sent as one message, which the kernel segments. Linux only. */
#ifndef SVC_LIMIT_H
#define SVC_LIMIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum { LIMIT_BATCH = 32, LIMIT_BYTES = 1536 };

struct limit_message {
    struct sockaddr_in name;
    struct iovec iov;
    union { struct cmsghdr align; uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))]; } control;
};

struct limit_outbox {
    struct limit_message *messages;
    struct mmsghdr *headers;
    int count;
};

static int limit_open(void) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0), size = 4 << 20;
    struct sockaddr_in a;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ? -1 : fd;
}

static int limit_port(int fd) {
    struct sockaddr_in a;
    socklen_t length = sizeof a;
    return getsockname(fd, (struct sockaddr *)&a, &length) < 0 ? -1 : ntohs(a.sin_port);
}

static int limit_prepare(struct limit_outbox *out, int capacity) {
    out->messages = calloc((size_t)capacity, sizeof *out->messages);
    out->headers = calloc((size_t)capacity, sizeof *out->headers);
    out->count = 0;
    return out->messages && out->headers ? 0 : -1;
}

static void limit_address(struct limit_outbox *out, int i, uint16_t port) {
    struct limit_message *m = &out->messages[i];
    m->name.sin_family = AF_INET;
    m->name.sin_port = htons(port);
    m->name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

/* Wait for packets, and receive all that are waiting. */
static int limit_receive(int fd, uint8_t *buffers, int *lengths) {
    static struct mmsghdr headers[LIMIT_BATCH];
    static struct iovec iovs[LIMIT_BATCH];
    struct pollfd waiting = {fd, POLLIN, 0};
    int i, n;
    (void)poll(&waiting, 1, 1000);
    for (i = 0; i < LIMIT_BATCH; i++) {
        iovs[i].iov_base = buffers + i * LIMIT_BYTES;
        iovs[i].iov_len = LIMIT_BYTES;
        headers[i].msg_hdr.msg_iov = &iovs[i];
        headers[i].msg_hdr.msg_iovlen = 1;
    }
    n = recvmmsg(fd, headers, LIMIT_BATCH, MSG_DONTWAIT, NULL);
    for (i = 0; i < n; i++)
        lengths[i] = (int)headers[i].msg_len;
    return n < 0 ? 0 : n;
}

/* One message of `length` bytes to receiver i, cut into segments of `segment` bytes each. */
static void limit_add(struct limit_outbox *out, int i, uint8_t *data, int length, int segment) {
    struct limit_message *m = &out->messages[i];
    struct msghdr *h = &out->headers[out->count++].msg_hdr;
    m->iov.iov_base = data;
    m->iov.iov_len = (size_t)length;
    h->msg_name = &m->name;
    h->msg_namelen = sizeof m->name;
    h->msg_iov = &m->iov;
    h->msg_iovlen = 1;
    h->msg_control = NULL;
    h->msg_controllen = 0;
    if (length > segment) {
        struct cmsghdr *c;
        uint16_t size = (uint16_t)segment;
        h->msg_control = m->control.bytes;
        h->msg_controllen = sizeof m->control.bytes;
        c = CMSG_FIRSTHDR(h);
        c->cmsg_level = IPPROTO_UDP;
        c->cmsg_type = UDP_SEGMENT;
        c->cmsg_len = CMSG_LEN(sizeof size);
        memcpy(CMSG_DATA(c), &size, sizeof size);
    }
}

static void limit_flush(int fd, struct limit_outbox *out) {
    int i = 0, sent;
    while (i < out->count && (sent = sendmmsg(fd, out->headers + i, (unsigned)(out->count - i), 0)) > 0)
        i += sent;
    out->count = 0;
}

#endif
