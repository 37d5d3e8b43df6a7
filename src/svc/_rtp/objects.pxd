"""Declares the core's objects: transports, forwarders and down tracks, and the links between them.

    Transport (a participant) ── sections ──> Forwarder (a published track) ──> DownTrack, one per receiver
        ^                                                                        |
        └────────────────────────────────────────────────────────────────────────┘

A simulcast track has one Forwarder per encoding, and its Simulcast links to all of them. A DownTrack is
linked to the Forwarder whose packets it gets, and `simulcast` moves it to another Forwarder. A track in a
single encoding therefore has no extra cost.

Only the core's thread uses these objects. LiveKit's "Forwarder" belongs to one DownTrack. Here, a Forwarder
belongs to a published track. Inbound and outbound are from the SFU's point of view, so a participant's media
is inbound.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.address cimport Path
from svc._rtp.bandwidth cimport Bandwidth
from svc._rtp.frames cimport FrameReader
from svc._rtp.history cimport History
from svc._rtp.keyframes cimport Codec, KeyframeRequester
from svc._rtp.layers cimport LayerSelector
from svc._rtp.loudness cimport Loudness
from svc._rtp.pacer cimport Pacer
from svc._rtp.picture cimport Picture
from svc._rtp.reception cimport Reception
from svc._rtp.replay cimport ReplayWindow
from svc._rtp.rtcp cimport SenderInfo
from svc._rtp.sent_packets cimport SentPackets
from svc._rtp.sequence cimport SequenceRewriter
from svc._rtp.sha1 cimport HmacKey
from svc._rtp.srtp cimport SrtpContext
from svc._rtp.twcc cimport ArrivalLog

cdef enum:
    MAX_PATHS = 8           # validated paths of one transport
    MAX_SECTIONS = 4        # microphone, camera, screen, screen audio
    MAX_SOURCES = 16        # inbound SSRCs in the media sections of one transport
    MAX_HEARD = 64          # authenticated inbound SSRCs of a DTLS session, RTP and RTCP, in a section or not
    MAX_UFRAG = 32
    MAX_MID = 16
    MAX_CNAME = 64
    MAX_ENCODINGS = 3       # encodings of one track
    MAX_EARLIER = 6         # remembered SSRCs of a section: each encoding has one for media and one for RTX
    MAX_RID = 16            # the longest value of a one-byte extension
    MAX_LINKED = 8          # inbound SSRCs of a link: those of a track in all encodings, or of RTCP
    # Splices that a resend can still refer to (a power of two): more than occur within the age of a history.
    SPLICES = 8


cdef enum MediaKind:
    AUDIO
    VIDEO


cdef struct Credentials:    # our credentials in one ICE generation
    uint8_t ufrag[MAX_UFRAG]
    uint8_t ufrag_length
    uint32_t generation     # 1, 2, ...
    HmacKey key             # HMAC key of the password


cdef struct EarlierSource:  # an inbound SSRC of a track that has ended
    uint32_t ssrc           # 0 if none
    uint8_t encoding        # index of its encoding


cdef struct MediaSection:   # a media section (an m-line) on which the participant may send
    uint8_t mid[MAX_MID]
    uint8_t mid_length
    MediaKind kind
    uint8_t payload_types[128]  # 1 if accepted, by payload type
    uint32_t ssrcs[MAX_SOURCES]  # as signalled; 0 ends the list
    Forwarder* forwarder    # the smallest encoding, or NULL if the participant must not send here
    EarlierSource earlier[MAX_EARLIER]  # SSRCs of tracks in several encodings that were sent here before
    uint8_t earlier_next    # index of the entry to replace next


cdef struct Source:         # an inbound SSRC that is bound to a media section
    uint32_t ssrc
    Forwarder* forwarder
    int64_t last_packet     # ns: arrival of the last packet


cdef struct Transport:
    # The fields needed for each outgoing packet come first, as in DownTrack.
    uint8_t keyed
    uint8_t has_selected
    uint8_t deafened
    uint8_t shard           # index of the shard that sends its media
    uint8_t packet_shard    # index of the shard that sends its media while the selected path is UDP
    uint32_t id
    SrtpContext outbound
    SentPackets wide        # packets sent under transport-wide numbers, if the participant negotiated them
    Path selected
    Pacer* pacer            # NULL if none of its tracks is paced
    void* paced_queue       # SendQueue*: the waiting packets of its paced tracks

    Transport* next         # in the engine's list
    Transport* previous
    Transport* next_sender  # in the list of transports that have sent media
    bint sends

    Credentials credentials[2]  # newest first
    uint8_t credentials_count
    uint32_t generation     # generation of the newest credentials
    bint controlling

    Path validated[MAX_PATHS]   # newest first
    uint32_t priorities[MAX_PATHS]
    bint nominated[MAX_PATHS]
    uint32_t generations[MAX_PATHS] # by path: the newest ICE generation with a check on this path
    uint8_t validated_count
    bint silent             # a SILENT event was sent for the selected path
    int64_t heard_at        # ns: arrival of the last datagram over the selected path
    int64_t counted_since   # ns: start of the second in which `signs` counts
    uint32_t signs
    bint steady             # at least STEADY_SIGNS datagrams arrived in the last counted second

    SrtpContext inbound
    uint32_t rtcp_ssrc      # SSRC of the RTCP packets that the SFU sends to this participant

    MediaSection sections[MAX_SECTIONS]
    uint8_t section_count
    Source sources[MAX_SOURCES]
    uint8_t source_count
    # Replay windows of the authenticated SSRCs. Both this list and libsrtp's own list, which uses a kilobyte
    # per SSRC, are searched for every packet. Entries are never removed, because a removed SSRC's packets
    # could be replayed.
    ReplayWindow* heard[MAX_HEARD]
    uint8_t heard_count
    int64_t strangers_after # ns: packets from unknown addresses are not tried before this time
    bint is_link            # leads to another SFU; identified by its SSRCs, not by its address
    uint32_t linked[MAX_LINKED]     # the SSRCs that the other SFU sends on this link; 0 ends the list
    ArrivalLog* arrivals    # NULL until the first packet with a transport-wide number
    int64_t next_feedback   # ns: when transport-wide feedback is due
    int64_t next_report     # ns: when receiver reports are due

    DownTrack* down_tracks  # the tracks that this participant receives, linked by next_received
    Bandwidth* bandwidth    # its downlink's bandwidth; NULL until it negotiates transport-wide numbers
    double wanted_bps       # highest rate to probe for (bit/s), or 0 if the estimate is not wanted
    uint32_t repeated_bytes # resends sent, without probes, since the estimate was last reported
    bint probed             # in the list of transports whose downlinks may be probed
    Transport* next_probed
    int64_t redundancy_after    # ns: no audio is sent as RED before this time, because RED caused a queue
    bint paced              # in the list of transports that may send paced packets, or that rest
    Transport* next_paced


cdef struct Forwarder:
    uint32_t id
    Transport* transport    # the publisher's transport
    uint8_t section
    MediaKind kind
    bint muted

    uint32_t ssrc           # current SSRC of the media, or 0 if no packet has arrived yet
    uint8_t payload_type    # payload type of the last media packet
    uint8_t reported_payload_type   # payload type last reported to Python, or 255 if none
    int64_t reported_at     # ns: when the current source and codec were reported to Python, or 0 if never
    Codec codec
    FrameReader* frames     # NULL until the first Dependency Descriptor
    Reception reception
    History history
    KeyframeRequester keyframes
    Loudness loudness       # audio only
    int64_t held_requests   # ns: when the first delayed keyframe request of a receiver is due, or 0 if none
    SenderInfo last_sr      # contents of the last sender report
    int64_t last_sr_at      # ns: arrival of that report, or 0 if this source has sent none

    DownTrack* down_tracks  # linked by next_sent
    uint32_t layer_bytes[9] # received since the last report of rates: three temporal layers per spatial layer
    bint flowed             # data was received in the period of the last report

    # The remaining fields are used only for tracks in several encodings.
    Simulcast* simulcast    # NULL if this is the only encoding
    Forwarder* next_encoding    # the next larger encoding of the same track
    uint8_t rid[MAX_RID]
    uint8_t rid_length
    uint8_t spatial_layer   # 0 for the smallest encoding
    bint stopped            # this encoding is sending nothing while the others continue
    uint32_t missed         # frames that the other encodings sent since the last packet of this encoding
    uint32_t frame_timestamp    # timestamp of its newest packet
    int64_t media_at        # ns: arrival of the newest packet
    Picture newest          # picture id and TL0PICIDX of the newest packet


cdef struct Simulcast:      # the encodings of one track
    Forwarder* encodings[MAX_ENCODINGS]     # by spatial layer, smallest first
    uint8_t count
    bint pending            # a receiver is waiting for a keyframe of an encoding that it does not get yet
    int64_t next_review     # ns: when to look for stopped encodings and request pending keyframes again


cdef struct Splice:         # the offsets that make one encoding's packets continue a receiver's stream
    Forwarder* forwarder
    uint32_t timestamp_offset   # added to the sender's timestamps, as the other offsets are to their fields
    uint32_t nudge          # part of timestamp_offset that makes timestamps increase across the switch
    uint16_t picture_offset
    uint16_t frame_offset   # offset of the frame number in the Dependency Descriptor
    uint8_t tl0_offset


cdef struct Sent:           # a packet sent to a receiver, indexed by its number at the receiver
    int64_t output          # extended sequence number at the receiver
    int64_t input           # extended sequence number at the publisher
    int64_t resent_at       # ns: when last resent, or first sent if the packet was late, or 0 if neither
    uint8_t resends
    uint8_t with_mid        # 1 if its header carried the mid, so a resend repeats the mid
    uint8_t filler          # 1 if padding was sent in place of a late packet not meant for the receiver
    uint8_t layer_marks     # LayerMarks of its frame for this receiver
    uint8_t splice          # number of the receiver's splice under which it was sent
    uint8_t numbered        # 1 if it has a transport-wide number, which it gets when it is first written
    uint8_t redundant       # 1 if it was sent as RED, with the packet before it as redundancy
    uint16_t wide           # transport-wide number; a plain resend repeats it with the rest of the header


# A byte that describes how a packet is changed for a receiver that gets fewer layers. Without KEEP_BITMASK,
# its low bits are the highest layers that the descriptor's bitmask allows: the temporal layer, and the
# spatial layer shifted by SPATIAL_SHIFT.
cdef enum LayerMarks:
    SPATIAL_SHIFT = 3
    KEEP_BITMASK = 64
    END_PICTURE = 128       # the frame is the last of its picture: set the marker in its last packet
    NO_MARKS = KEEP_BITMASK


cdef struct LastFrame:      # the last packet before a gap: shows which frames the missing packets belong to
    int64_t number
    uint8_t known
    uint8_t dropped
    uint8_t ended           # the packet was the last of its frame


# The fields needed for each outgoing packet come first, in the order in which they are used. A thousand
# receivers do not fit into a processor's cache, and fetching one cache line costs as much as all the work on
# its fields.
cdef struct DownTrack:
    DownTrack* next_sent    # next receiver of the same forwarder
    Forwarder* forwarder
    Transport* transport    # the receiver's transport
    DownTrack* next_queued  # next in the send queue, while has_turn is set
    void* first_record      # SendRecord*: the oldest packet waiting for this receiver
    void* last_record
    uint32_t records        # number of waiting packets
    uint32_t ssrc
    uint8_t waiting         # 1 if forwarding is waiting for a keyframe
    uint8_t requests        # consecutive keyframe requests, except those after losses; reset after a minute
    bint loses              # a report showed losses since the last keyframe request
    uint8_t paused          # waiting because of heavy loss; this receiver's requests do not end the wait
    uint8_t switched_off    # waiting because its client turned the track off (SET_PAUSED)
    uint8_t new_source      # NEW_* bits: the next start continues the stream from another source
    uint8_t has_turn
    uint8_t shedding        # 1 if the frame with shed_timestamp is being dropped
    uint8_t mixed           # 1 if it accepts two-byte extensions (RFC 8285 section 4.1.2)
    uint8_t mid_id          # extension id of the mid, or 0 if not accepted
    uint8_t wide_id         # extension id of the transport-wide number, or 0 if not accepted
    uint8_t announced       # 1 if the receiver has reported on our SSRC, so packets omit the mid
    uint8_t paced           # 1 if its packets wait in the paced queue of its transport
    uint8_t pinned          # 1 if it gets one encoding of the track and is never moved to another

    SequenceRewriter numbers
    Sent* sent  # by output number & sent_mask; grows until it contains all packets that may be NACKed
    int64_t sent_mask
    uint32_t timestamp_offset   # added to the sender's timestamps
    Splice* splices         # by splice number & (SPLICES - 1); NULL until the first move to another encoding
    uint32_t last_timestamp # timestamp as sent

    int64_t last_timestamp_at   # ns: when the packet with last_timestamp was queued
    uint32_t packets        # as counted in sender reports, excluding retransmissions
    uint32_t octets
    int64_t resend_credit   # bytes that may be resent now
    int64_t nacked          # recent share of packets that were NACKed, times NACKED_ALL
    int64_t redundant_until # ns: audio is sent as RED until then; 0 if it is not
    int64_t repair_credit   # bytes that redundancy may add now, in 16ths
    int64_t copied_until    # ns: every second audio packet is sent twice until then; 0 if it is not
    LastFrame last_frame    # frame of the packet with the highest number
    uint64_t payload_types[2]   # payload types that the receiver accepts, one bit each

    LayerSelector layers
    uint8_t ext_ids[256]    # sender's extension id -> receiver's, or 0 to drop it

    # The remaining fields are rarely used.
    uint32_t id
    uint8_t splice          # number of the newest splice
    uint8_t max_spatial     # largest encoding that the client wants, or ALL_LAYERS for any
    uint32_t served         # packets sent in the current turn, while the queue is congested
    DownTrack* next_received    # next down track of the same transport
    uint32_t shed_timestamp
    uint32_t paced_timestamp    # sender's timestamp of the newest frame about which pacing has decided
    bint paced_keyframe     # that frame is a keyframe
    uint32_t rtx_ssrc       # 0 if it has no RTX
    int64_t rtx_index       # index of the next RTX packet: rollover counter and sequence number
    uint8_t mid[MAX_MID]
    uint8_t mid_length
    uint8_t cname[MAX_CNAME]
    uint8_t cname_length
    int64_t waiting_since   # ns: when the first packet was withheld during the current wait, or 0 if none
    int64_t rtt             # ns, from the receiver's reports, or 0 if unknown
    int64_t lossy_since     # ns: when its reports began to show too much loss, or 0 if they do not
    uint8_t fraction_lost   # loss in 256ths, from its last report
    int64_t reported_at     # ns: arrival of that report
    uint32_t sr_sent        # middle 32 bits of the NTP time in the last SR
    int64_t sr_sent_at      # ns
    int64_t lost_audio_at   # ns: when it last requested an audio packet
    bint requests_audio     # it has requested audio packets, so it needs no copies
    int64_t last_request    # ns: this receiver's last keyframe request that went through
    int64_t held_request    # ns: when its delayed keyframe request goes through, or 0 if none is delayed


cdef enum NewSource:        # bits of DownTrack.new_source
    NEW_SENDER = 1          # another sender: its clock cannot be compared with the previous one
    NEW_ENCODING = 2        # another encoding of the same sender


cdef inline bint accepts(const DownTrack* down_track, uint8_t payload_type) noexcept nogil:
    return down_track.payload_types[payload_type >> 6] >> (payload_type & 63) & 1


# The payload types and extension ids that the SFU negotiates, the same for all participants.
cdef struct Negotiated:
    uint8_t kind[128]       # PAYLOAD_*, or 0 if not negotiated
    uint8_t codec[128]      # Codec
    uint8_t media_of[128]   # RTX payload type -> media payload type
    uint8_t rtx_of[128]     # media payload type -> RTX payload type, or 0 if none
    uint32_t clock_rate[128]
    uint8_t mid_id          # hop-by-hop extension, read by the core
    uint8_t twcc_id
    uint8_t level_id        # RFC 6464; read and forwarded
    uint8_t descriptor_id   # Dependency Descriptor; read and forwarded
    uint8_t rid_id          # encoding of a packet (RFC 8852), or 0 if not negotiated
    uint8_t repaired_rid_id # encoding that an RTX packet retransmits (RFC 8852)
    uint8_t red_type        # payload type of RED (RFC 2198), or 0 if not negotiated
    uint8_t red_media_type  # payload type of the blocks in it
    uint8_t forwarded[256]  # 1 if end-to-end, that is, forwarded under the same id


cdef enum Payload:
    PAYLOAD_UNKNOWN
    PAYLOAD_AUDIO
    PAYLOAD_VIDEO
    PAYLOAD_RTX


# Cumulative counters, written only by the core's thread. Python uses the same names. docs/configuration.md
# defines each counter.
cdef struct Counters:
    uint64_t packets_received
    uint64_t bytes_received
    uint64_t packets_sent
    uint64_t bytes_sent
    uint64_t dropped_unknown_source
    uint64_t dropped_malformed
    uint64_t dropped_oversized
    uint64_t dropped_unauthenticated
    uint64_t dropped_not_negotiated
    uint64_t dropped_duplicate
    uint64_t dropped_pool_exhausted
    uint64_t dropped_ring_full
    uint64_t dropped_send_failed
    uint64_t dropped_stun
    uint64_t dropped_overload_video
    uint64_t dropped_overload_audio
    uint64_t dropped_slow_video     # the receiver's TCP connection was full
    uint64_t dropped_slow_audio
    uint64_t nacks_received
    uint64_t nacks_sent
    uint64_t retransmissions_sent
    uint64_t retransmissions_received
    uint64_t plis_received
    uint64_t plis_sent
    uint64_t descriptors_unread
    uint64_t fillers_sent
    uint64_t probes_sent            # packets sent only to probe a downlink
    uint64_t bandwidth_reports      # transport-wide feedback packets from receivers
    uint64_t bandwidth_reports_ignored
    uint64_t dropped_paced          # packets withheld because the receiver's paced queue was full
    uint64_t redundant_sent         # audio packets sent as RED, or a second time without a request
    uint64_t audio_recovered        # lost audio packets recovered from a sender's RED
    uint64_t layers_dropped         # packets withheld from a receiver because of its temporal layer
    uint64_t encoding_switches      # moves of a receiver to another encoding of a track
    uint64_t tcp_accepted           # counted by streams
    uint64_t tcp_refused
