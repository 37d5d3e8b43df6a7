"""KeyframeRequester: requests keyframes every two seconds and on demand, and merges requests.

Decides when to send a PLI, which `feedback` writes and sends. Recognises a keyframe by the payload descriptor
and, if necessary, by the first bits of the frame. Does not decode video. See docs/rtcp.md, "Keyframe
requests"; RFC 7741 (VP8), RFC 9628 (VP9), RFC 6184 (H264), AV1 RTP specification section 4.4.
"""

cdef enum:                  # H264 NAL unit types.
    SPS = 7
    STAP_A = 24

# Every video sender is sent a keyframe request every 2 s (docs/rtcp.md, "RTCP from the SFU").
cdef int64_t PERIOD = 2_000_000_000
# At most one PLI is sent within this time, regardless of the number of requests.
cdef int64_t SOURCE_INTERVAL = 500_000_000


cdef void request(KeyframeRequester* requester, int64_t now, bint repeated) noexcept nogil:
    """Request a keyframe immediately, or as soon as the sender's interval allows. No request is lost.

    `repeated` means that the receiver keeps requesting keyframes. Such a request does not delay another
    receiver's first request, unless the requested keyframe is still on its way.
    """
    cdef int64_t last = requester.last_shared if requester.answered and not repeated else requester.last_sent
    cdef int64_t due = max(now, last + SOURCE_INTERVAL) if last else now
    requester.for_repeats = repeated and (requester.due == 0 or requester.for_repeats)
    if requester.due == 0 or due < requester.due:
        requester.due = due


cdef void skip_unneeded(KeyframeRequester* requester, int64_t now, bint needed) noexcept nogil:
    """Skip the periodic PLI if no receiver needs a keyframe. The phase of later periodic PLIs does not
    change.
    """
    if not needed and now >= requester.next_periodic:
        requester.next_periodic += PERIOD


cdef bint take_due(KeyframeRequester* requester, int64_t now) noexcept nogil:
    """Return whether to send a PLI now, and count it as sent."""
    cdef bint periodic = now >= requester.next_periodic
    if not periodic and (requester.due == 0 or now < requester.due):
        return False
    if periodic:
        requester.next_periodic = now + PERIOD
    if periodic or not requester.for_repeats:
        requester.last_shared = now
    requester.last_sent = now
    requester.due = 0
    requester.answered = False
    return True


cdef int64_t next_due(const KeyframeRequester* requester) noexcept nogil:
    """Return the time at which take_due will next return True."""
    return min(requester.due, requester.next_periodic) if requester.due else requester.next_periodic


cdef void keyframe_came(KeyframeRequester* requester) noexcept nogil:
    """Clear the delayed requests, because a keyframe has arrived."""
    requester.due = 0
    requester.answered = True


cdef bint starts_keyframe(Codec codec, const uint8_t* payload, size_t length) noexcept nogil:
    """Return whether this packet is the first packet of a keyframe."""
    if length < 2:
        return False
    if codec == VP8:
        return vp8(payload, length)
    if codec == VP9:
        return vp9(payload, length)
    if codec == H264:
        return h264(payload, length)
    if codec == AV1:
        # The aggregation header has the fields Z, W, Y and N. "N: set to 1 if the packet is the first packet
        # of a coded video sequence".
        return payload[0] & 0x08 != 0
    return False


cdef bint vp8(const uint8_t* payload, size_t length) noexcept nogil:
    """Recognise a VP8 keyframe: S set and partition 0 (RFC 7741 section 4.2), then P clear (section 4.3)."""
    cdef size_t at = 1
    cdef uint8_t extended
    if payload[0] & 0x17 != 0x10:
        return False
    if payload[0] & 0x80:
        extended = payload[1]
        at = 2
        if extended & 0x80:
            if at >= length:
                return False
            at += 2 if payload[at] & 0x80 else 1
        if extended & 0x40:
            at += 1
        if extended & 0x30:
            at += 1
    return at < length and payload[at] & 0x01 == 0


cdef bint vp9(const uint8_t* payload, size_t length) noexcept nogil:
    """Recognise a VP9 keyframe: P clear (no inter-picture prediction), B set, spatial layer 0 (RFC 9628
    section 4.2).
    """
    cdef size_t at = 1
    if payload[0] & 0x48 != 0x08:
        return False
    if payload[0] & 0x20:
        if payload[0] & 0x80:
            at += 2 if payload[1] & 0x80 else 1
        if at >= length:
            return False
        return (payload[at] >> 1) & 0x07 == 0
    return True


cdef bint h264(const uint8_t* payload, size_t length) noexcept nogil:
    """Recognise an H264 keyframe by a sequence parameter set, alone or in a STAP-A (RFC 6184).

    The IDR slice after the parameter sets does not count, because a receiver that started at the slice would
    miss parameter sets that are merely late. Browsers send parameter sets with every keyframe.
    """
    cdef uint8_t kind = payload[0] & 0x1F
    cdef size_t at = 1
    if kind != STAP_A:
        return kind == SPS
    while at + 3 <= length:
        if payload[at + 2] & 0x1F == SPS:
            return True
        at += 2 + ((<size_t>payload[at] << 8) | payload[at + 1])
    return False


def is_keyframe(str codec, bytes payload) -> bool:
    """Call starts_keyframe with a codec name. For tests."""
    names = {"H264": H264, "VP8": VP8, "VP9": VP9, "AV1": AV1}
    return starts_keyframe(names.get(codec, OTHER), payload, <size_t>len(payload))


cdef class Requester:
    """A KeyframeRequester for Python, in tests. Times are in seconds."""

    cdef KeyframeRequester requester

    def __cinit__(self, double first_periodic=2.0):
        self.requester.next_periodic = <int64_t>(first_periodic * 1e9)
        self.requester.last_sent = self.requester.last_shared = 0
        self.requester.due = 0
        self.requester.for_repeats = self.requester.answered = False

    def request(self, double now, *, bint repeated=False):
        request(&self.requester, <int64_t>(now * 1e9), repeated)

    def take_due(self, double now) -> bool:
        return take_due(&self.requester, <int64_t>(now * 1e9))

    def keyframe_came(self):
        keyframe_came(&self.requester)
