"""Declares Python's commands to the core's thread, which applies them between batches."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

from svc._rtp.address cimport Path
from svc._rtp.core cimport Core
from svc._rtp.objects cimport MAX_CNAME, MAX_ENCODINGS, MAX_RID, MAX_SOURCES, MAX_UFRAG
from svc._rtp.sha1 cimport HmacKey
from svc._rtp.srtp cimport SrtpContext

cdef enum CommandKind:
    # These commands need no existing object. Each command is a method of Engine and a branch of `apply`.
    OPEN_TRANSPORT      # id, ssrc = SSRC of our RTCP
    OPEN_DOWN_TRACK     # id, other = forwarder, third = transport, ssrc, rtx_ssrc, name = mid, cname, payload_types, ext_ids, mid_id, wide_id, flag = mixed, number = the only encoding, from 1, or 0
    SEND_STUN           # path, data
    # These commands do nothing if the object no longer exists.
    CLOSE_TRANSPORT     # id
    SET_CREDENTIALS     # id, name = ufrag, key
    SET_CONTROLLING     # id, flag
    SELECT              # id, path, flag = link to another SFU, ssrcs
    SEND_DTLS           # id, data
    SET_KEYS            # id, inbound, outbound
    OPEN_SECTION        # id = transport, other = forwarder, flag = video, name = mid, payload_types, ssrcs, rids
    CLOSE_FORWARDER     # id
    SET_MUTED           # id = forwarder, flag
    SET_DEAFENED        # id = transport, flag
    CLOSE_DOWN_TRACK    # id
    SET_LAYER           # id = down track, number = max temporal layer
    SET_SPATIAL_LAYER   # id = down track, number = max spatial layer
    SET_PAUSED          # id = down track, flag
    SET_PACED           # id = down track, flag
    WANT_BANDWIDTH      # id = transport, rate


cdef struct Command:
    Command* next
    CommandKind kind
    uint32_t id
    uint32_t other
    uint32_t third
    uint32_t ssrc
    uint32_t rtx_ssrc
    bint flag
    uint8_t number
    uint8_t mid_id
    uint8_t wide_id
    double rate             # bit/s
    uint8_t name[MAX_UFRAG] # a ufrag or a mid; a ufrag can be longer
    uint8_t name_length
    uint8_t cname[MAX_CNAME]
    uint8_t cname_length
    uint8_t payload_types[128]
    uint8_t ext_ids[256]
    uint32_t ssrcs[MAX_SOURCES]
    uint8_t rids[MAX_ENCODINGS][MAX_RID]    # smallest encoding first
    uint8_t rid_lengths[MAX_ENCODINGS]
    uint8_t rid_count
    HmacKey key
    Path path
    SrtpContext inbound
    SrtpContext outbound
    uint8_t* data           # owned by the command
    size_t length


cdef void apply(Core* core, Command* command) noexcept nogil
cdef void free_command(Command* command) noexcept nogil
cdef void close_everything(Core* core) noexcept nogil
cdef void forget_stream(Core* core, uint32_t stream_id) noexcept nogil
