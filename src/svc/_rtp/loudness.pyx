"""Detects the start and end of speech from audio levels.

Reads only the level extension, which is one byte, and not the audio. The start requires a minimum duration,
so that a knock on a table does not count as speech. The end is delayed, so that a breath does not count as
silence. See RFC 6464.
"""

# In dBov x 256. Speech into a headset is around -25 dBov, a quiet room below -60 dBov.
cdef int64_t ONSET = -45 * 256
cdef int64_t RELEASE = -52 * 256
cdef int64_t SILENCE = -127 * 256
# The minimum duration of loud sound, and of quiet sound (ns).
cdef int64_t ATTACK = 80_000_000
cdef int64_t HOLD = 600_000_000


cdef bint heard(Loudness* loudness, uint8_t level, int64_t now) noexcept nogil:
    """Process one packet's level (the extension's byte). Return whether speech has started or ended."""
    cdef int64_t loud = -<int64_t>(level & 0x7F) * 256
    if not loudness.started:
        loudness.started = True
        loudness.level = SILENCE
    # The level rises immediately and falls by an eighth per packet, so that peaks count and pauses between
    # words do not.
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
    return expire_speech(loudness, now)


cdef bint expire_speech(Loudness* loudness, int64_t now) noexcept nogil:
    """Return whether speech has ended. This must be called regularly, because quiet senders might send no
    packets (DTX).
    """
    if loudness.speaking and now >= expires_at(loudness):
        loudness.speaking = False
        loudness.loud_since = 0
        return True
    return False


cdef int64_t expires_at(const Loudness* loudness) noexcept nogil:
    """Return the time at which speech will have ended, if no loud packet arrives before then."""
    return loudness.last_loud + HOLD


cdef class Meter:
    """A Loudness for Python, in tests. Times are in seconds."""

    cdef Loudness loudness

    def heard(self, int level, double now) -> bool:
        return heard(&self.loudness, <uint8_t>level, <int64_t>(now * 1e9))

    def expire_speech(self, double now) -> bool:
        return expire_speech(&self.loudness, <int64_t>(now * 1e9))

    @property
    def speaking(self) -> bool:
        return self.loudness.speaking
