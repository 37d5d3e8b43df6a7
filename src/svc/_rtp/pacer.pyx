"""Decides when one receiver's packets are sent, and which frames no longer fit.

The pacer is a leaky bucket: each packet occupies the downlink for the time that it takes at the paced rate.
That rate is somewhat above the estimate, or below it while packets queue in the downlink. If packets wait
here instead of in a router, audio and retransmissions can overtake them. The wait is limited: a frame is
admitted only while the wait is short, upper temporal layers are withheld first, and a packet that has waited
for the maximum time is sent immediately. A keyframe and the frames behind it may wait longer, because nothing
else can be decoded without the keyframe.

Stores no packets and has no clock. See docs/bandwidth.md, "Pacing".
"""

from libc.string cimport memset

# The paced rate, as a multiple of the estimate. Without a queue in the downlink, frames are sent a little
# faster than their average rate, so that the queue here empties between them. With a queue in the downlink,
# they are sent more slowly.
cdef double PACE = 1.25
cdef double PACE_IN_QUEUE = 0.9
# PACE applies up to the first of these queue lengths in the downlink (ns), and PACE_IN_QUEUE from the second
# length on. In between, the multiple is interpolated.
cdef double SHORT_QUEUE = 20e6
cdef double LONG_QUEUE = 60e6
# If a new packet would wait longer than these times (ns), new frames in temporal layers from 2, 1 or 0
# upwards are withheld. The maximum wait is 150 ms, and the remaining time is for sending the frame.
cdef int64_t MAX_WAIT_T2 = 60_000_000
cdef int64_t MAX_WAIT_T1 = 80_000_000
cdef int64_t MAX_WAIT_T0 = 110_000_000
# The maximum wait (ns). Older packets are not resent either (see `history`).
cdef int64_t MAX_KEYFRAME_WAIT = 600_000_000


cdef void set_rate(Pacer* pacer, double estimate, int64_t queue) noexcept nogil:
    """Set the pace for the given estimate (bit/s, 0 to stop pacing) and queue in the downlink (ns)."""
    cdef double share = min(max((<double>queue - SHORT_QUEUE) / (LONG_QUEUE - SHORT_QUEUE), 0.0), 1.0)
    cdef double pace = PACE - (PACE - PACE_IN_QUEUE) * share
    pacer.byte_ns = 8e9 / (estimate * pace) if estimate > 0 else 0


cdef int64_t delay(const Pacer* pacer, int64_t waiting_bytes, int64_t now) noexcept nogil:
    """Return how long a new packet would wait behind the waiting bytes (ns)."""
    return max(pacer.free_at - now, <int64_t>0) + <int64_t>(<double>waiting_bytes * pacer.byte_ns)


cdef uint8_t withheld_from(Pacer* pacer, int64_t waiting_bytes, bint keyframe, int64_t now) noexcept nogil:
    """Return the lowest temporal layer whose new frames are withheld, or WITHHOLD_NOTHING."""
    cdef int64_t wait = delay(pacer, waiting_bytes, now)
    if pacer.byte_ns == 0 or wait <= MAX_WAIT_T2:
        return WITHHOLD_NOTHING
    if keyframe or now < pacer.keyframe_until:
        return WITHHOLD_NOTHING if wait <= MAX_KEYFRAME_WAIT else 0
    if wait > MAX_WAIT_T0:
        return 0
    return 1 if wait > MAX_WAIT_T1 else 2


cdef void keyframe_queued(Pacer* pacer, int64_t waiting_bytes, int64_t now) noexcept nogil:
    """Allow longer waits until the keyframe has been sent, if more packets arrive meanwhile at half the paced
    rate.
    """
    cdef int64_t wait = delay(pacer, waiting_bytes, now)
    if pacer.byte_ns and wait > MAX_WAIT_T2:
        pacer.keyframe_until = max(pacer.keyframe_until, now + min(2 * wait, MAX_KEYFRAME_WAIT))


cdef class Pace:
    """A Pacer for Python, in tests. Times are in seconds."""

    cdef Pacer pacer

    def __cinit__(self):
        memset(&self.pacer, 0, sizeof(Pacer))

    def set_rate(self, double estimate, double queue=0.0):
        set_rate(&self.pacer, estimate, <int64_t>(queue * 1e9))

    def withheld_from(self, int64_t waiting_bytes, double now, bint keyframe=False) -> int:
        return withheld_from(&self.pacer, waiting_bytes, keyframe, <int64_t>(now * 1e9))

    def keyframe_queued(self, int64_t waiting_bytes, double now):
        keyframe_queued(&self.pacer, waiting_bytes, <int64_t>(now * 1e9))

    def is_due(self, double since, double now) -> bool:
        return is_due(&self.pacer, <int64_t>(since * 1e9), <int64_t>(now * 1e9))

    def sent(self, uint32_t size, double now):
        note_sent(&self.pacer, size, <int64_t>(now * 1e9))

    def longest_wait(self, double now) -> float:
        return longest_wait(&self.pacer, <int64_t>(now * 1e9)) / 1e9
