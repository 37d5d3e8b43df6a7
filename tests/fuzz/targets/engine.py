"""The engine keeps running and preserves its invariants, no matter what participants send or the SFU
requests.

The input is a program: a byte selects a step, and the bytes after it are the step's arguments. Each step ends
with a check of the sent packets: their size and SSRC, and that no packet index is used to encrypt different
content.
"""

import struct

from tests.fuzz.program import Program
from tests.fuzz.room import AUDIO, PWD, RED, REPAIRED_RID, RID, RIDS, VIDEO, Room, check
from tests.kit import packets
from tests.kit.participant import DESCRIPTOR, LEVEL, MID, SERVER, TWCC

IN_PYTHON = False
MAX_STEPS = 200


def run(data: bytes) -> None:
    program = Program(data)
    with Room() as room:
        for _ in range(MAX_STEPS):
            if not program.left:
                break
            program.choice(STEPS)(program, room)
        room.wait(1.0)


def raw_datagram(program: Program, room: Room) -> None:
    room.receive(program.piece(1500), program.choice(room.peers).address)


def raw_rtp(program: Program, room: Room) -> None:
    room.send(program.choice(room.peers), program.piece(1500))


def raw_rtcp(program: Program, room: Room) -> None:
    room.send_rtcp(program.choice(room.peers), program.piece(1500))


def wait(program: Program, room: Room) -> None:
    room.wait((program.number() + 1) ** 2 / 4000)  # up to 16 s


def connectivity_check(program: Program, room: Room) -> None:
    """Send a check from the participant's own address or another one, so that paths appear, are selected and
    are replaced.
    """
    peer, port, flags = program.choice(room.peers), program.number(), program.number()
    if port > 15:
        port = peer.address[1]
    role = "ICE-CONTROLLING" if flags & 1 else "ICE-CONTROLLED"
    room.receive(check(peer.number, bool(flags & 2), role), (peer.address[0], port))
    if flags & 4:
        room.engine.select(peer.transport, (peer.address[0], port), SERVER)


def media(program: Program, room: Room) -> None:
    """Send a well-formed packet from a source: its next packet, an earlier packet, or one after a gap."""
    peer, flags = program.choice(room.peers), program.number()
    source = peer.sources[flags & 1]
    sequence = source.sequence + program.number(signed=True) * (256 if flags & 2 else 1)
    payload_type = program.choice([*VIDEO.values()]) if flags & 1 else RED if flags & 16 else AUDIO
    descriptor, payload = program.piece(127), program.piece(15)
    elements = [(DESCRIPTOR, descriptor)] if descriptor else [(LEVEL, payload[:1])]
    retransmitted = flags >> 4 & flags & 1
    # The second participant sends its video in several encodings and does not always identify them.
    encoding = flags >> 2 & 3 if peer.number == 2 and flags & 1 else 0
    if flags & 4:
        elements.append((MID, source.mid))
    if encoding & 1:
        elements.append((REPAIRED_RID if retransmitted else RID, RIDS[encoding >> 1]))
    if flags & 8:
        elements.append((TWCC, struct.pack("!H", sequence & 0xFFFF)))
    packet = packets.rtp(
        # A retransmission has the SSRC and the payload type that follow those of its media packet.
        ssrc=source.ssrc + 10 * encoding + retransmitted,
        sequence=sequence,
        payload_type=payload_type + retransmitted,
        timestamp=source.timestamp,
        marker=bool(flags & 32),
        extensions=packets.two_byte_extensions(elements),
        payload=(struct.pack("!H", sequence & 0xFFFF) if retransmitted else b"") + payload,
        padding=flags >> 6 & 1,
    )
    source.sequence = sequence
    source.timestamp += 3000 if flags & 32 else 0
    source.ssrc += 100 if flags & 128 else 0
    room.send(peer, packet)


def nack(program: Program, room: Room) -> None:
    peer = program.choice(room.peers)
    ssrc = program.choice(peer.ssrcs or [0])
    first = peer.last_sequence.get(ssrc, 0) - program.number()
    body = struct.pack("!IIHH", 1, ssrc, first & 0xFFFF, program.number(2))
    room.send_rtcp(peer, packets.rtcp(205, 1, body))


def arrivals(program: Program, room: Room) -> None:
    """Send a receiver's transport-wide feedback about any sequence numbers, often those that were sent."""
    peer = program.choice(room.peers)
    first = program.number(2) if program.number() & 1 else peer.last_number - program.number() % 32
    count = program.number()
    body = struct.pack("!IIHH", 1, 0, first & 0xFFFF, count) + program.take(4) + program.piece(64)
    room.send_rtcp(peer, packets.rtcp(205, 15, body + bytes(-len(body) % 4)))


def report(program: Program, room: Room) -> None:
    """Send a browser's reports and requests."""
    peer = program.choice(room.peers)
    ssrc, source = program.choice(peer.ssrcs or [0]), program.choice(peer.sources)
    lost, delay = program.number(), program.number()
    compounds = (
        packets.receiver_report(1, ssrc, fraction_lost=lost, lsr=1 << 16, dlsr=delay << 8),
        packets.sender_report(source.ssrc, 1 << 32, source.timestamp & 0xFFFFFFFF),
        packets.pli(ssrc),
        packets.fir(ssrc),
        packets.rtcp(203, 1, struct.pack("!I", source.ssrc)),
    )
    room.send_rtcp(peer, program.choice(compounds))


def ask(program: Program, room: Room) -> None:
    """Make one of the requests that signalling sends to the core."""
    engine, what = room.engine, program.number() % 11
    forwarder, down_track = program.choice(room.forwarders), program.choice(room.down_tracks)
    peer, argument = program.choice(room.peers), program.number()
    if what == 0:
        engine.set_muted(forwarder, bool(argument & 1))
    elif what == 1:
        engine.set_deafened(peer.transport, bool(argument & 1))
    elif what == 2:
        engine.set_layer(down_track, argument & 127)
        engine.set_paused(down_track, bool(argument & 128))
        engine.set_spatial_layer(down_track, (0, 1, 2, 255)[argument & 3])
        engine.set_paced(down_track, bool(argument & 4))
    elif what == 3:
        engine.close_down_track(down_track)
    elif what == 4:
        room.subscribe(peer, forwarder)
    elif what == 5:
        engine.close_forwarder(forwarder)
    elif what == 6:
        room.publish(peer)
    elif what == 7:
        engine.set_credentials(peer.transport, f"ufrag{peer.number}", PWD)
        engine.set_controlling(peer.transport, bool(argument & 1))
    elif what == 8:
        engine.send_dtls(peer.transport, bytes([22]) * (1 + argument))
    elif what == 10:
        engine.want_bandwidth(peer.transport, argument * 1e5)
    else:
        room.rejoin(peer.number)


STEPS = (
    media,
    media,
    media,
    wait,
    nack,
    arrivals,
    report,
    ask,
    connectivity_check,
    raw_rtp,
    raw_rtcp,
    raw_datagram,
)
