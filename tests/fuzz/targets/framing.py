"""A byte stream yields the same frames and the same error no matter how it is split. Queued frames are sent
unchanged.
"""

from svc._rtp.framing import BrokenFraming, Reader, Writer

IN_PYTHON = False
MAX_FRAME_BYTES = 1500


def run(data: bytes) -> None:
    """Run one input. The first byte is the size of the pieces, and the other bytes are the stream."""
    size, stream = 1 + data[0] if data else 1, data[1:]
    # The frames that precede an invalid length in the same piece are lost.
    frames, broken = read(stream, 1)
    read_frames, was_broken = read(stream, size)
    assert was_broken == broken
    assert read_frames == frames[: len(read_frames)] and (broken or read_frames == frames)
    assert all(len(frame) <= MAX_FRAME_BYTES for frame in frames)
    at = 0
    for frame in frames:
        assert stream[at : at + 2 + len(frame)] == len(frame).to_bytes(2, "big") + frame
        at += 2 + len(frame)
    assert broken == (len(stream) >= at + 2 and int.from_bytes(stream[at : at + 2], "big") > MAX_FRAME_BYTES)
    write(frames, size)


def read(stream: bytes, size: int) -> tuple[list[bytes], bool]:
    reader, frames = Reader(), []
    for start in range(0, len(stream), size):
        try:
            frames += reader.read(stream[start : start + size])
        except BrokenFraming:
            return frames, True
    return frames, False


def write(frames: list[bytes], size: int) -> None:
    writer, written, limit = Writer(), b"", 4096
    kept = []
    for frame in frames:
        if writer.put(frame, limit=limit):
            kept.append(frame)
        assert len(writer) <= limit
        written += writer.take(min(size, len(writer)))
    while len(writer):
        written += writer.take(min(size, len(writer)))
    assert written == b"".join(len(frame).to_bytes(2, "big") + frame for frame in kept)
