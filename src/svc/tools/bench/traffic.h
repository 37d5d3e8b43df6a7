/* Connected UDP sockets as a load generator uses them: one datagram sent at a time, as browsers do, and
 * all waiting datagrams received in batches with the kernel's arrival times, which are correct no matter how
 * late we read them. Separate from the core's udp.h deliberately: the measuring code shares no system call
 * with the measured code. Only traffic.pyx uses this file. */
#ifndef SVC_TRAFFIC_H
#define SVC_TRAFFIC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    TRAFFIC_BATCH = 32,
    TRAFFIC_BYTES = 1720 /* size of the largest datagram, with room for the bytes that SRTP appends */
};

struct traffic_datagram {
    uint8_t *data;
    int length;      /* length as sent, which may exceed the part that was kept */
    int64_t arrival; /* ns, monotonic */
};

static inline int64_t traffic_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline int64_t traffic_now(void) { return traffic_clock(CLOCK_MONOTONIC); }
static inline int64_t traffic_cpu(void) { return traffic_clock(CLOCK_THREAD_CPUTIME_ID); }

static inline void traffic_sleep_until(int64_t at) {
    int64_t left = at - traffic_now();
    struct timespec t;
    if (left <= 0)
        return;
    t.tv_sec = (time_t)(left / 1000000000);
    t.tv_nsec = (long)(left % 1000000000);
    nanosleep(&t, NULL);
}

static inline int traffic_send(int fd, const uint8_t *data, int length) {
    return send(fd, data, (size_t)length, MSG_DONTWAIT) < 0 ? -1 : 0;
}

/* Return the monotonic clock's reading when the datagram arrived. The kernel's timestamps are in real time,
   so only the difference from now is used. */
static inline int64_t traffic_arrival(struct msghdr *h, int64_t now, int64_t real) {
#ifdef SCM_TIMESTAMPNS
    struct cmsghdr *c;
    for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            return now - (real - ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec));
        }
    }
#endif
    (void)h;
    (void)real;
    return now;
}

/* Receive up to TRAFFIC_BATCH waiting datagrams, keeping the first `kept` bytes of each. Return how many were
   received. */
static inline int traffic_receive(int fd, struct traffic_datagram *d, int kept) {
    static __thread uint8_t controls[TRAFFIC_BATCH][64];
    static __thread struct iovec iovs[TRAFFIC_BATCH];
    int64_t now, real;
    int i, n = 0;
#ifdef __linux__
    static __thread struct mmsghdr headers[TRAFFIC_BATCH];
    for (i = 0; i < TRAFFIC_BATCH; i++) {
        struct msghdr *h = &headers[i].msg_hdr;
        iovs[i].iov_base = d[i].data;
        iovs[i].iov_len = (size_t)kept;
        h->msg_iov = &iovs[i];
        h->msg_iovlen = 1;
        h->msg_control = controls[i];
        h->msg_controllen = sizeof controls[i];
    }
    /* With MSG_TRUNC, the reported length is the datagram's, even if only part of it is kept. */
    n = recvmmsg(fd, headers, TRAFFIC_BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
    if (n <= 0)
        return 0;
    now = traffic_now();
    real = traffic_clock(CLOCK_REALTIME);
    for (i = 0; i < n; i++) {
        d[i].length = (int)headers[i].msg_len;
        d[i].arrival = traffic_arrival(&headers[i].msg_hdr, now, real);
    }
#else
    (void)kept;
    for (i = 0; i < TRAFFIC_BATCH; i++, n++) {
        struct msghdr h;
        ssize_t length;
        memset(&h, 0, sizeof h);
        iovs[i].iov_base = d[i].data;
        iovs[i].iov_len = TRAFFIC_BYTES;
        h.msg_iov = &iovs[i];
        h.msg_iovlen = 1;
        h.msg_control = controls[i];
        h.msg_controllen = sizeof controls[i];
        length = recvmsg(fd, &h, MSG_DONTWAIT);
        if (length < 0)
            break;
        now = traffic_now();
        real = traffic_clock(CLOCK_REALTIME);
        d[i].length = (int)length;
        d[i].arrival = traffic_arrival(&h, now, real);
    }
#endif
    return n;
}

#endif
