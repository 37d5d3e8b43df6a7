"""What the core knows: transports, forwarders and down tracks, and how they hang together.

    Transport (a participant) ── lines ──> Forwarder (a published track) ──> DownTrack, one per receiver
        ^                                                                        |
        └────────────────────────────────────────────────────────────────────────┘

A track that comes in several encodings (simulcast) has a Forwarder for each, and its Simulcast leads to all of
them. A DownTrack is linked to the one whose packets it gets (`simulcast` moves it), so that a track in one encoding
costs nothing more.

All of it belongs to the core's thread. LiveKit calls "Forwarder" what belongs to one DownTrack; here it is
the word for the object of a published track. Inbound and outbound are as the SFU sees them: what a participant
sends comes in.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.address cimport Path
from svc._rtp.bandwidth cimport Bandwidth
from svc._rtp.frames cimport FrameReader
from svc._rtp.history cimport History
from svc._rtp.keyframes cimport Codec, KeyframeRequester
from svc._rtp.layers cimport TemporalLayerSelector
from svc._rtp.loudness cimport Loudness
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
    MAX_LINES = 4           # microphone, camera, screen, screen audio
    MAX_SOURCES = 16        # inbound SSRCs of one transport
    MAX_HEARD = 64          # inbound SSRCs of one DTLS session, placed or not, RTCP's too
    MAX_UFRAG = 32
    MAX_MID = 16
    MAX_CNAME = 64
    MAX_ENCODINGS = 3       # of one track
    MAX_RID = 16            # what a one-byte extension holds
    # Splices that a receiver's resends can still refer to (a power of two): more than fit into the age of a history.
    SPLICES = 8


cdef enum MediaKind:
    AUDIO
    VIDEO


cdef struct Credentials:    # one ICE generation
    uint8_t ufrag[MAX_UFRAG]
    uint8_t ufrag_length
    uint32_t generation     # 1, 2, ...
    HmacKey key             # of the password


cdef struct Line:           # an m-line on which the participant may send
    uint8_t mid[MAX_MID]
    uint8_t mid_length
    MediaKind kind
    uint8_t payload_types[128]  # 1 = accepted
    uint32_t ssrcs[MAX_SOURCES]  # as signalled; 0 ends the list
    Forwarder* forwarder    # NULL = the participant may not send here; of several encodings, the smallest


cdef struct Source:         # an inbound SSRC that has been placed on a line
    uint32_t ssrc
    Forwarder* forwarder
    int64_t last_packet     # ns


cdef struct Transport:
    # What each packet to a receiver needs comes first, as in DownTrack.
    uint8_t keyed
    uint8_t has_selected
    uint8_t deafened
    uint8_t shard           # which thread sends its media
    uint8_t packet_shard    # which one does while it is reached by UDP
    uint32_t id
    SrtpContext outbound
    SentPackets wide        # what goes to it under transport-wide numbers, where it has negotiated them
    Path selected

    Transport* next         # in the engine's list
    Transport* previous
    Transport* next_sender  # in the list of those who have sent media
    bint sends

    Credentials credentials[2]  # the newest first
    uint8_t credentials_count
    uint32_t generation     # of the newest
    bint controlling

    Path validated[MAX_PATHS]   # the newest first
    uint32_t priorities[MAX_PATHS]
    bint nominated[MAX_PATHS]
    uint32_t generations[MAX_PATHS] # the newest in whose name it was checked
    uint8_t validated_count
    bint silent             # Python was told that nothing comes over the selected path
    int64_t heard_at        # ns: when something last did
    int64_t counted_since   # ns: when a second began in which signs of life are counted
    uint32_t signs
    bint steady             # Many came in the last second that has been counted

    SrtpContext inbound
    uint32_t rtcp_ssrc      # we report as this source

    Line lines[MAX_LINES]
    uint8_t line_count
    Source sources[MAX_SOURCES]
    uint8_t source_count
    # Whose packets have been authenticated. They are looked through for every packet, by libsrtp too, which
    # keeps a kilobyte for each. None is ever forgotten: its packets could be replayed.
    ReplayWindow* heard[MAX_HEARD]
    uint8_t heard_count
    int64_t strangers_after # ns: until then nothing from an unknown address is tried
    ArrivalLog* arrivals    # NULL until the first packet with a transport-wide number
    int64_t next_feedback   # ns: transport-wide feedback
    int64_t next_report     # ns: receiver reports

    DownTrack* down_tracks  # what this participant receives, linked by next_received
    Bandwidth* bandwidth    # of the line to it; NULL until it negotiates transport-wide numbers
    double wanted_bps       # up to which rate the line is probed; 0 = nobody wants to know
    bint probed             # it is in the list of those whose lines may be probed
    Transport* next_probed


cdef struct Forwarder:
    uint32_t id
    Transport* transport    # the publisher's
    uint8_t line
    MediaKind kind
    bint muted

    uint32_t ssrc           # of the media now; 0 = nothing has come yet
    uint8_t payload_type    # of the last media packet
    uint8_t told_payload_type   # the one that Python knows of; 255 = none
    int64_t told_at         # ns: when Python was last told of the source and its codec; 0 = not of this source
    Codec codec
    FrameReader* frames     # NULL until the first Dependency Descriptor
    Reception reception
    History history
    KeyframeRequester keyframes
    Loudness loudness       # of audio
    int64_t held_requests   # ns: when a receiver's held-back keyframe request falls due; 0 = none
    SenderInfo last_sr      # as it came
    int64_t last_sr_at      # ns: 0 = of this source none has come

    DownTrack* down_tracks  # linked by next_sent

    # The rest is for tracks in several encodings.
    Simulcast* simulcast    # NULL = this is the only encoding
    Forwarder* next_encoding    # of the same track, the next larger one
    uint8_t rid[MAX_RID]
    uint8_t rid_length
    uint8_t spatial_layer   # 0 = the smallest encoding
    bint stopped            # the others go on, and this one sends nothing
    uint32_t missed         # frames of the others since its last packet
    uint32_t frame_timestamp    # of its newest packet
    int64_t media_at        # ns: when that came
    Picture newest          # of its newest packet


cdef struct Simulcast:      # the encodings of one track
    Forwarder* encodings[MAX_ENCODINGS]     # by spatial layer, the smallest first
    uint8_t count
    bint pending            # a receiver waits for a keyframe of an encoding that it does not have yet
    int64_t next_review     # ns: when it is looked again whether one has stopped, and the keyframes asked for again


cdef struct Splice:         # how the packets of one encoding continue a receiver's stream
    Forwarder* forwarder
    uint32_t timestamp_offset   # each of these is added to what the sender has written
    uint32_t nudge          # part of timestamp_offset: what keeps timestamps rising across the switch
    uint16_t picture_offset
    uint16_t frame_offset   # of the Dependency Descriptor's frame number
    uint8_t tl0_offset


cdef struct Sent:           # a packet that a receiver got, by its number there
    int64_t output          # extended number at the receiver
    int64_t input           # extended number at the publisher
    int64_t resent_at       # ns: or when it was first sent, if that was late; 0 = neither
    uint8_t resends
    uint8_t with_mid        # 1 = its header carried the mid: a resend repeats it bit for bit
    uint8_t filler          # 1 = padding only, in the place of a late packet that was not to go
    uint8_t told_layers     # its descriptor's decode targets were cut to this temporal layer; 255 = untouched
    uint8_t splice          # which of the receiver's splices it was sent under
    uint8_t numbered        # it has a transport-wide number; until it is first written it has none
    uint16_t wide           # that number: a plain resend repeats it, as all of the header


cdef struct LastFrame:      # what the packet before a gap tells of the packets in it
    int64_t number
    uint8_t known
    uint8_t dropped
    uint8_t ended           # the packet was its frame's last


# What every packet for a receiver needs comes first, in the order in which it is needed: a thousand receivers
# do not fit into a processor's cache, and each line of it that is fetched costs as much as all the work there.
cdef struct DownTrack:
    DownTrack* next_sent    # of the same forwarder
    Forwarder* forwarder
    Transport* transport    # the receiver's
    DownTrack* next_queued  # in its send queue, while it has a turn there
    void* first_record      # SendRecord*: what waits to be sent to this receiver
    void* last_record
    uint32_t records        # how many wait
    uint32_t ssrc
    uint8_t waiting         # for a keyframe
    uint8_t requests        # for keyframes, by this receiver, without a minute's pause and without losses
    bint loses              # it has reported losses since its last request
    uint8_t paused          # waiting because it loses too much: its own wishes do not shorten that
    uint8_t switched_off    # waiting because its client wants nothing of this track for now (SET_PAUSED)
    uint8_t new_source      # the next start goes on with the numbers of another source: NEW_*
    uint8_t has_turn
    uint8_t shedding        # the frame with shed_timestamp is being dropped
    uint8_t mixed           # two-byte extensions accepted (RFC 8285 section 4.1.2)
    uint8_t mid_id          # the extension's id, 0 = not accepted
    uint8_t wide_id         # likewise, of the transport-wide number
    uint8_t announced       # the receiver has reported on our SSRC: the mid need not be sent any more

    SequenceRewriter numbers
    Sent* sent              # by output number & sent_mask; as many as may still be asked for
    int64_t sent_mask
    uint32_t timestamp_offset   # added to the sender's timestamps
    Splice* splices         # by number & (SPLICES - 1); NULL until it is moved to another encoding
    uint32_t last_timestamp # as sent

    int64_t last_timestamp_at   # ns: when that packet was to be sent
    uint32_t packets        # as sender reports count them, retransmissions excluded
    uint32_t octets
    int64_t resend_credit   # bytes that may be resent now
    int64_t nacked          # recent share of packets asked for again, of NACKED_ALL
    LastFrame last_frame    # of the packet with the highest number
    uint64_t payload_types[2]   # accepted by the receiver, a bit for each

    TemporalLayerSelector layers
    uint8_t ext_ids[256]    # sender's extension id -> receiver's, 0 = drop

    # The rest is seldom looked at.
    uint32_t id
    uint8_t splice          # the number of the newest one
    uint8_t max_spatial     # the largest encoding that its client wants; ALL_LAYERS = any
    uint32_t served         # packets sent in its present turn, while its queue is congested
    DownTrack* next_received    # of the same transport
    uint32_t shed_timestamp
    uint32_t rtx_ssrc       # 0 = no RTX
    int64_t rtx_index       # of the next RTX packet: rollover counter and sequence number
    uint8_t mid[MAX_MID]
    uint8_t mid_length
    uint8_t cname[MAX_CNAME]
    uint8_t cname_length
    int64_t waiting_since   # ns: since when packets have been held back; 0 = none has
    int64_t rtt             # ns, as the receiver's reports tell; 0 = unknown
    int64_t lossy_since     # ns: since when its reports tell of too much loss; 0 = they do not
    uint8_t fraction_lost   # of 256, by its last report
    int64_t reported_at     # ns: when that came
    uint32_t sr_sent        # middle 32 bits of the last SR's NTP time
    int64_t sr_sent_at      # ns
    int64_t last_request    # ns: of a keyframe, by this receiver
    int64_t held_request    # ns: when the next may go through; 0 = none held


cdef enum NewSource:        # bits of DownTrack.new_source
    NEW_SENDER = 1          # its clock cannot be compared with the one before
    NEW_ENCODING = 2        # of the same sender


cdef inline bint accepts(const DownTrack* down_track, uint8_t payload_type) noexcept nogil:
    return down_track.payload_types[payload_type >> 6] >> (payload_type & 63) & 1


# What one program of the SFU negotiates with everybody: one payload-type and one extension-id table.
cdef struct Negotiated:
    uint8_t kind[128]       # 0 = not ours, else PAYLOAD_*
    uint8_t codec[128]      # Codec
    uint8_t media_of[128]   # RTX payload type -> the media payload type it repeats
    uint8_t rtx_of[128]     # media payload type -> its RTX payload type, 0 = none
    uint32_t clock_rate[128]
    uint8_t mid_id          # hop-by-hop extensions that the core reads
    uint8_t twcc_id
    uint8_t level_id        # RFC 6464; read here and passed on
    uint8_t descriptor_id   # the Dependency Descriptor; likewise
    uint8_t rid_id          # which encoding a packet belongs to (RFC 8852); 0 = not negotiated
    uint8_t repaired_rid_id # of RTX: of which encoding it repeats packets
    uint8_t forwarded[256]  # 1 = end to end: passed on under the same id


cdef enum Payload:
    PAYLOAD_UNKNOWN
    PAYLOAD_AUDIO
    PAYLOAD_VIDEO
    PAYLOAD_RTX


# Cumulative counters, written by the core's thread only; Python sees them under these names. docs/configuration.md
# says what each means.
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
    uint64_t dropped_slow_video     # a receiver's TCP connection takes no more
    uint64_t dropped_slow_audio
    uint64_t nacks_received
    uint64_t nacks_sent
    uint64_t retransmissions_sent
    uint64_t retransmissions_received
    uint64_t plis_received
    uint64_t plis_sent
    uint64_t descriptors_unread
    uint64_t fillers_sent
    uint64_t probes_sent            # packets that only try what a line carries
    uint64_t bandwidth_reports      # transport-wide feedback of receivers
    uint64_t bandwidth_reports_ignored
    uint64_t layers_dropped         # packets kept from a receiver by its temporal layer
    uint64_t encoding_switches      # a receiver goes on with another encoding of a track
    uint64_t tcp_accepted           # as streams counts them
    uint64_t tcp_refused
