/* Sends real datagrams through the core's udp.h on loopback. It needs only a C library, so it runs on systems
 * without a Python to test the core with (musl, Wine). ci/cross compiles and runs it. It prints what failed and
 * exits with status 1. tests/_rtp/test_udploop.py has the thorough tests. Wine ignores the source address that
 * a datagram should have, so WITHOUT_SOURCE_ADDRESS skips that check. */
#include "udp.h"

#include <stdio.h>
#include <stdlib.h>

enum { WITHIN_MS = 5000, CAPACITY = 1500 };

#define CHECK(what)                                             \
    do {                                                        \
        if (!(what)) {                                          \
            printf("line %d: not true: %s\n", __LINE__, #what); \
            exit(1);                                            \
        }                                                       \
    } while (0)

static const uint8_t any[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0};
static const uint8_t first[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1};
static const uint8_t second[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 2};
static const uint8_t any6[16] = {0};
static const uint8_t first6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

static uint8_t sent[2 * CAPACITY], received[CAPACITY];

static void send_to(int from, const uint8_t ip[16], int port, const uint8_t local[16], int length) {
    struct svc_datagram d;
    int segment = 1, failed = 0;
    memset(&d, 0, sizeof d);
    d.data = sent;
    d.length = length;
    d.port = (uint16_t)port;
    memcpy(d.remote, ip, 16);
    memcpy(d.local, local, 16);
    CHECK(svc_udp_send(from, &d, 1, 0, &segment, &failed) == 1 && failed == 0);
}

static struct svc_datagram receive(int fd) {
    struct svc_datagram d;
    memset(&d, 0, sizeof d);
    d.data = received;
    d.length = CAPACITY;
    CHECK(svc_wait(&fd, 1, -1, WITHIN_MS));
    CHECK(svc_udp_receive(fd, &d, 1, 1, 0) == 1);
    return d;
}

/* A client at `ip` sends a request to the server at `to`, and gets the response from there. */
static void ask(int server, const uint8_t ip[16], const uint8_t to[16]) {
    struct svc_datagram d;
    int client = svc_udp_open(ip, 0);
    CHECK(client >= 0);
    send_to(client, to, svc_udp_port(server), any6, 100);
    d = receive(server);
    CHECK(d.length == 100 && memcmp(sent, received, 100) == 0);
    CHECK(d.port == svc_udp_port(client) && memcmp(d.remote, ip, 16) == 0);
    CHECK(memcmp(d.local, to, 16) == 0);
    CHECK(d.arrival == 0 || (svc_realtime() - d.arrival >= 0 && svc_realtime() - d.arrival < 1000000LL * WITHIN_MS));
    send_to(server, d.remote, d.port, d.local, 200);
    d = receive(client);
    CHECK(d.length == 200 && d.port == svc_udp_port(server));
#ifndef WITHOUT_SOURCE_ADDRESS
    CHECK(memcmp(d.remote, to, 16) == 0);
#endif
    send_to(client, to, svc_udp_port(server), any6, CAPACITY + 1);
    CHECK(receive(server).length == -1);
    svc_close(client);
}

/* Ten signals cause exactly one wake-up. */
static void check_signal(void) {
    int64_t started;
    int fds[2], i;
    CHECK(svc_signal_open(fds) == 0);
    for (i = 0; i < 10; i++)
        svc_signal(fds[1]);
    CHECK(svc_wait(fds, 1, -1, WITHIN_MS));
    svc_clear_signal(fds[0]);
    started = svc_monotonic();
    CHECK(!svc_wait(fds, 1, -1, 20));
    CHECK(svc_monotonic() - started >= 19000000);
    svc_close(fds[0]);
    if (fds[1] != fds[0])
        svc_close(fds[1]);
}

int main(void) {
    int server = svc_udp_open(any, 0), server6, i;
    for (i = 0; i < (int)sizeof sent; i++)
        sent[i] = (uint8_t)i;
    CHECK(server >= 0 && svc_udp_port(server) > 0);
    CHECK(svc_udp_open(any, (uint16_t)svc_udp_port(server)) < 0);
    CHECK(svc_udp_open(first, (uint16_t)svc_udp_port(server)) < 0);
    ask(server, first, first);
    ask(server, first, second);
    server6 = svc_udp_open(any6, 0);
    if (server6 >= 0)
        ask(server6, first6, first6);
    check_signal();
    printf("datagrams, addresses and signals are right%s\n", server6 >= 0 ? "" : ", without IPv6");
    return 0;
}
