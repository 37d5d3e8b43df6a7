"""Reads an RTP header, and writes the header for a receiver.

Does not read or copy payloads, and has no state. See RFC 3550 section 5.1 (fixed header), RFC 8285 (header
extensions). Contributing sources are omitted, because the SFU does not mix.
"""

from libc.string cimport memcpy, memset

from svc._rtp.wire cimport load16, load32, store16, store32


cdef int parse(const uint8_t* data, size_t length, Header* header) noexcept nogil:
    """Fill `header` from a decrypted packet. Return 0, or -1 if the packet is malformed."""
    cdef size_t at = 12, end = 0, padding = 0
    cdef uint32_t profile = 0
    if length < 12 or length > 0xFFFF or data[0] >> 6 != 2:
        return -1
    header.marker = data[1] >> 7
    header.payload_type = data[1] & 0x7F
    header.sequence = load16(data + 2)
    header.timestamp = load32(data + 4)
    header.ssrc = load32(data + 8)
    header.extension_count = 0
    at += 4 * <size_t>(data[0] & 0x0F)
    if data[0] & 0x10:
        if at + 4 > length:
            return -1
        profile = load16(data + at)
        end = at + 4 + 4 * <size_t>load16(data + at + 2)
        at += 4
        if end > length:
            return -1
        if profile == ONE_BYTE_PROFILE:
            read_one_byte(data, at, end, header)
        elif profile & 0xFFF0 == TWO_BYTE_PROFILE:
            read_two_byte(data, at, end, header)
        at = end
    if at > length:
        return -1
    if data[0] & 0x20:
        if at == length:
            return -1
        padding = data[length - 1]
        if padding == 0 or padding > length - at:
            return -1
    header.padding = <uint8_t>padding
    header.payload_offset = <uint16_t>at
    header.payload_length = <uint16_t>(length - at - padding)
    return 0


cdef inline void add(Header* header, uint8_t ext_id, size_t offset, size_t length) noexcept nogil:
    cdef Extension* extension = &header.extensions[header.extension_count]
    if header.extension_count == MAX_EXTENSIONS:
        return
    extension.id = ext_id
    extension.offset = <uint16_t>offset
    extension.length = <uint8_t>length
    header.extension_count += 1


cdef void read_one_byte(const uint8_t* data, size_t at, size_t end, Header* header) noexcept nogil:
    cdef uint8_t ext_id
    cdef size_t length
    while at < end:
        if data[at] == 0:
            # A zero byte is padding (RFC 8285 section 4.1.1).
            at += 1
            continue
        ext_id = data[at] >> 4
        length = <size_t>(data[at] & 0x0F) + 1
        # After id 15, and after id 0 with a length, "processing of the entire extension MUST stop" (section
        # 4.2). Also stop at an element that extends past the end, because the packet is usable without this
        # element.
        if ext_id == 15 or ext_id == 0 or at + 1 + length > end:
            return
        add(header, ext_id, at + 1, length)
        at += 1 + length


cdef void read_two_byte(const uint8_t* data, size_t at, size_t end, Header* header) noexcept nogil:
    cdef size_t length
    while at < end:
        if data[at] == 0:
            at += 1
            continue
        if at + 2 > end:
            return
        length = data[at + 1]
        if at + 2 + length > end:
            return
        add(header, data[at], at + 2, length)
        at += 2 + length


cdef const Extension* find(const Header* header, uint8_t ext_id) noexcept nogil:
    """Return the first element with this id, or NULL if there is none. Id 0 is never found."""
    cdef int i
    if ext_id != 0:
        for i in range(header.extension_count):
            if header.extensions[i].id == ext_id:
                return &header.extensions[i]
    return NULL


cdef size_t write(uint8_t* out, const uint8_t* data, const Header* header, const Rewrite* rewrite) noexcept nogil:
    """Write a receiver's header at `out` and return its length.

    Writes at most 12 + 4 + (the sender's extensions + mid + transport-wide number, each with two bytes of
    header) + 3 bytes. The payload and its padding follow unchanged, so the padding bit is copied from the
    sender's header.
    """
    cdef const Extension* extension
    cdef const uint8_t* value
    cdef uint8_t number[2]
    cdef uint8_t ext_id, length
    cdef bint two_byte = False
    cdef size_t at = 16
    cdef int i
    out[0] = 0xA0 if header.padding else 0x80
    out[1] = <uint8_t>((0x80 if rewrite.marker else 0) | rewrite.payload_type)
    store16(out + 2, rewrite.sequence)
    store32(out + 4, rewrite.timestamp)
    store32(out + 8, rewrite.ssrc)
    if rewrite.mixed:
        two_byte = needs_two_byte(header, rewrite)
    if rewrite.mid_id:
        at += write_element(out + at, rewrite.mid_id, rewrite.mid, rewrite.mid_length, two_byte)
    if rewrite.wide_id:
        store16(number, rewrite.wide)
        at += write_element(out + at, rewrite.wide_id, number, 2, two_byte)
    for i in range(header.extension_count):
        extension = &header.extensions[i]
        ext_id = rewrite.ext_ids[extension.id]
        length = length_out(extension, rewrite)
        if ext_id and (two_byte or fits_one_byte(ext_id, length)):
            value = data + extension.offset if extension != rewrite.replaced else rewrite.replacement
            at += write_element(out + at, ext_id, value, length, two_byte)
    if at == 16:
        return 12
    out[0] |= 0x10
    while at & 3:
        out[at] = 0
        at += 1
    store16(out + 12, <uint32_t>(TWO_BYTE_PROFILE if two_byte else ONE_BYTE_PROFILE))
    store16(out + 14, <uint32_t>((at - 16) >> 2))
    return at


cdef inline uint8_t length_out(const Extension* extension, const Rewrite* rewrite) noexcept nogil:
    return extension.length if extension != rewrite.replaced else rewrite.replacement_length


cdef inline bint fits_one_byte(uint8_t ext_id, uint8_t length) noexcept nogil:
    return ext_id < 15 and 1 <= length <= 16


cdef bint needs_two_byte(const Header* header, const Rewrite* rewrite) noexcept nogil:
    cdef uint8_t ext_id
    cdef int i
    if rewrite.mid_id and not fits_one_byte(rewrite.mid_id, rewrite.mid_length):
        return True
    for i in range(header.extension_count):
        ext_id = rewrite.ext_ids[header.extensions[i].id]
        if ext_id and not fits_one_byte(ext_id, length_out(&header.extensions[i], rewrite)):
            return True
    return False


cdef inline size_t write_element(uint8_t* out, uint8_t ext_id, const uint8_t* value, uint8_t length,
                                 bint two_byte) noexcept nogil:
    if two_byte:
        out[0] = ext_id
        out[1] = length
        memcpy(out + 2, value, length)
        return 2 + <size_t>length
    out[0] = <uint8_t>((ext_id << 4) | (length - 1))
    memcpy(out + 1, value, length)
    return 1 + <size_t>length


def parse_header(bytes packet) -> dict | None:
    """Return a packet's header as a dictionary, or None if it is malformed. For tests and tools."""
    cdef Header header
    cdef const uint8_t* data = packet
    cdef int i
    if parse(data, <size_t>len(packet), &header) < 0:
        return None
    return {
        "marker": bool(header.marker),
        "payload_type": header.payload_type,
        "sequence": header.sequence,
        "timestamp": header.timestamp,
        "ssrc": header.ssrc,
        "padding": header.padding,
        "payload_offset": header.payload_offset,
        "payload_length": header.payload_length,
        "extensions": [
            (header.extensions[i].id,
             packet[header.extensions[i].offset:header.extensions[i].offset + header.extensions[i].length])
            for i in range(header.extension_count)
        ],
    }


def rewrite_header(bytes packet, *, unsigned int ssrc, unsigned int sequence, unsigned int payload_type,
                   dict ext_ids, bint mixed, tuple mid=None) -> bytes | None:
    """Return the packet with a receiver's header, or None if it is malformed. For tests and tools.

    `ext_ids` maps the sender's extension ids to the receiver's; `mid` is (id, value).
    """
    cdef Header header
    cdef Rewrite rewrite
    cdef uint8_t ids[256]
    cdef uint8_t out[2048]
    cdef const uint8_t* data = packet
    cdef bytes mid_value = b""
    if len(packet) > 1500 or parse(data, <size_t>len(packet), &header) < 0:
        return None
    memset(ids, 0, 256)
    for key, value in ext_ids.items():
        ids[<uint8_t>key] = value
    rewrite.mid_id = rewrite.wide_id = 0
    if mid is not None:
        mid_value = mid[1]
        rewrite.mid_id = mid[0]
    rewrite.mid = mid_value
    rewrite.mid_length = <uint8_t>len(mid_value)
    rewrite.ssrc = ssrc
    rewrite.timestamp = header.timestamp
    rewrite.sequence = <uint16_t>sequence
    rewrite.payload_type = <uint8_t>payload_type
    rewrite.marker = header.marker
    rewrite.mixed = mixed
    rewrite.ext_ids = ids
    rewrite.replaced = NULL
    rewrite.replacement_length = 0
    length = write(out, data, &header, &rewrite)
    return (<bytes>out[:<Py_ssize_t>length]) + packet[header.payload_offset:]
