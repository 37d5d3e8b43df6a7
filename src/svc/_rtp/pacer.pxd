"""Pacer: decides when one receiver's packets are sent, so that they do not queue in a router."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef enum:
    WITHHOLD_NOTHING = 255


cdef struct Pacer:
    double byte_ns          # ns that a byte takes at the paced rate, or 0 if not paced
    int64_t free_at         # ns: when all sent packets have left at the paced rate
    int64_t keyframe_until  # ns: a keyframe is being sent, so packets may wait longer


cdef void set_rate(Pacer* pacer, double estimate, int64_t queue) noexcept nogil
cdef int64_t delay(const Pacer* pacer, int64_t waiting_bytes, int64_t now) noexcept nogil
cdef uint8_t withheld_from(Pacer* pacer, int64_t waiting_bytes, bint keyframe, int64_t now) noexcept nogil
cdef void keyframe_queued(Pacer* pacer, int64_t waiting_bytes, int64_t now) noexcept nogil


cdef inline int64_t longest_wait(const Pacer* pacer, int64_t now) noexcept nogil:
    """Return how long a packet may wait before it is sent regardless of the rate."""
    return 150_000_000 if now >= pacer.keyframe_until else 600_000_000


cdef inline bint is_due(const Pacer* pacer, int64_t since, int64_t now) noexcept nogil:
    """Return whether a packet that has waited since `since` may be sent now."""
    return pacer.byte_ns == 0 or pacer.free_at <= now or now - since >= longest_wait(pacer, now)


cdef inline void note_sent(Pacer* pacer, uint32_t size, int64_t now) noexcept nogil:
    """Account for a sent packet of any kind, after which paced packets must wait longer."""
    # A credit of 10 ms compensates for late wake-ups. Audio, resends and probes delay video by 100 ms at
    # most.
    pacer.free_at = max(pacer.free_at, now - 10_000_000) + <int64_t>(size * pacer.byte_ns)
    pacer.free_at = min(pacer.free_at, now + 100_000_000)
