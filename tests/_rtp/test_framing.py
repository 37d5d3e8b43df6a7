"""Datagrams sent over a byte stream arrive unchanged, no matter how the stream is split (RFC 4571)."""

import random

import pytest
from hypothesis import given, strategies

from svc._rtp.framing import BrokenFraming, Reader, Writer

MAX_FRAME_BYTES = 1500

frames_of_any_size = strategies.lists(strategies.binary(max_size=MAX_FRAME_BYTES), max_size=20)


def on_the_wire(frames: list[bytes]) -> bytes:
    return b"".join(len(frame).to_bytes(2, "big") + frame for frame in frames)


def cut(data: bytes, seed: int) -> list[bytes]:
    choice = random.Random(seed)
    pieces = []
    while data:
        size = choice.choice([1, 2, 3, choice.randint(1, 4000)])
        pieces.append(data[:size])
        data = data[size:]
    return pieces


@given(frames_of_any_size, strategies.integers())
def test_frames_are_parsed_from_pieces_of_any_size(frames: list[bytes], seed: int) -> None:
    reader = Reader()
    read = [frame for piece in cut(on_the_wire(frames), seed) for frame in reader.read(piece)]
    assert read == frames


def test_the_longest_frame_is_read_and_a_longer_frame_is_rejected() -> None:
    assert Reader().read(on_the_wire([bytes(MAX_FRAME_BYTES)])) == [bytes(MAX_FRAME_BYTES)]
    with pytest.raises(BrokenFraming):
        Reader().read((MAX_FRAME_BYTES + 1).to_bytes(2, "big"))


def test_frames_before_an_invalid_length_are_read() -> None:
    reader = Reader()
    assert reader.read(on_the_wire([b"good"]) + b"\x00") == [b"good"]
    assert reader.read(b"\x03yes" + b"\x05") == [b"yes"]
    with pytest.raises(BrokenFraming):
        reader.read(b"\xff")


@given(frames_of_any_size, strategies.integers())
def test_queued_frames_are_written_completely_in_pieces_of_any_size(frames: list[bytes], seed: int) -> None:
    choice = random.Random(seed)
    writer, written, waiting = Writer(), b"", list(frames)
    while waiting or len(writer):
        if waiting and choice.random() < 0.5:
            assert writer.put(waiting.pop(0))
        written += writer.take(choice.randint(0, len(writer)))
        # `rest` returns the length of the unsent part of the current frame, which no other frame may
        # overtake.
        gone, at = len(written), 0
        for frame in frames:
            if at >= gone:
                break
            at += 2 + len(frame)
        assert writer.rest() == at - gone
    assert written == on_the_wire(frames)


@given(strategies.binary(min_size=1, max_size=MAX_FRAME_BYTES), strategies.data())
def test_the_rest_of_a_partly_sent_frame_is_sent_first(frame: bytes, data: strategies.DataObject) -> None:
    gone = data.draw(strategies.integers(0, len(frame) + 1))
    writer = Writer()
    assert writer.put(frame, gone)
    assert writer.put(b"next")
    assert writer.rest() == (2 + len(frame) - gone if gone else 0)
    assert writer.take(len(writer)) == on_the_wire([frame])[gone:] + on_the_wire([b"next"])


def test_a_frame_that_does_not_fit_is_dropped_completely() -> None:
    writer = Writer()
    assert writer.put(bytes(98), limit=150)
    assert not writer.put(bytes(98), limit=150)
    assert writer.put(bytes(48), limit=150)
    assert writer.take(len(writer)) == on_the_wire([bytes(98), bytes(48)])
