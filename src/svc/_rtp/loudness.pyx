"""Turns audio levels into "speaks" and "speaks no more", so that few events tell much.

Reads the level extension's one byte, never the sound. Onset must last, so that a knock on a table is
no speech; the end waits, so that a breath is no silence. RFC 6464.
"""

# dBov x 256. Speech at a headset lies around -25, a quiet room below -60.
cdef int64_t ONSET = -45 * 256
cdef int64_t RELEASE = -52 * 256
cdef int64_t SILENCE = -127 * 256
# How long it must be loud, and how long quiet (ns).
cdef int64_t ATTACK = 80_000_000
cdef int64_t HOLD = 600_000_000


cdef bint heard(Loudness* loudness, uint8_t level, int64_t now) noexcept nogil:
    """Take in one packet's level (the extension's byte); whether speaking began or ended with it."""
    cdef int64_t loud = -<int64_t>(level & 0x7F) * 256
    if not loudness.started:
        loudness.started = True
        loudness.level = SILENCE
    # Up at once, down by an eighth a packet: peaks count, pauses between words do not.
    loudness.level = loud if loud > loudness.level else loudness.level + (loud - loudness.level) // 8
    if loudness.level > (RELEASE if loudness.speaking else ONSET):
        loudness.last_loud = now
        if loudness.loud_since == 0:
            loudness.loud_since = now
        if not loudness.speaking and now - loudness.loud_since >= ATTACK:
            loudness.speaking = True
            return True
        return False
    loudness.loud_since = 0
    return lapsed(loudness, now)


cdef bint lapsed(Loudness* loudness, int64_t now) noexcept nogil:
    """Whether speaking has ended by now: quiet senders may send nothing at all (DTX)."""
    if loudness.speaking and now >= lapses_at(loudness):
        loudness.speaking = False
        loudness.loud_since = 0
        return True
    return False


cdef int64_t lapses_at(const Loudness* loudness) noexcept nogil:
    """When speaking will have ended, if nothing loud comes."""
    return loudness.last_loud + HOLD


cdef class Meter:
    """A Loudness that Python can drive; for tests. Times are seconds."""

    cdef Loudness loudness

    def heard(self, int level, double now) -> bool:
        return heard(&self.loudness, <uint8_t>level, <int64_t>(now * 1e9))

    def lapsed(self, double now) -> bool:
        return lapsed(&self.loudness, <int64_t>(now * 1e9))

    @property
    def speaking(self) -> bool:
        return self.loudness.speaking
