"""Transfers one stream of a video from the old file to the new file, inside the sandbox.

An encoder takes packets and yields packets to write. If every browser supports the codec, only the frames and
the audio in the packets are copied. Otherwise they are decoded and re-encoded. Opens no file.
`svc.worker.video` chooses the encoder for each stream.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Protocol, cast

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from svc.base.sandbox_protocol import Rejected
from svc.worker.geometry import BT709, UNSPECIFIED, Filters, Geometry, matrix_of

# More encoding threads would compete with calls for the processors.
THREADS = 2
MAX_FPS = 60
SAMPLE_RATE = 48_000
AUDIO_BIT_RATE = 128_000
# Keep only slices and parameter sets in H.264, and only frames in AV1. Remove SEI, metadata and unknown
# units.
_ESSENTIALS = {
    "h264": "filter_units=pass_types=1-5|7-8",
    "av1": "filter_units=remove_types=5|8|15",
}
# Every browser plays this profile. Seeking needs a keyframe every few seconds.
_H264 = {"preset": "veryfast", "crf": "23", "profile": "high", "threads": str(THREADS), "forced-idr": "1"}
_VP9 = {
    "deadline": "realtime",
    "cpu-used": "7",
    "crf": "32",
    "b": "0",
    "row-mt": "1",
    "threads": str(THREADS),
}
_KEYFRAME_EVERY_S = 5
# The attributes that define a frame's colour values: matrix, primaries, transfer (including HLG and PQ) and
# range (H.273).
COLOUR_TAGS = ("colorspace", "color_primaries", "color_trc", "color_range")
# H.264 and similar codecs reorder at most this many frames.
_MAX_REORDERED = 32
_CLOCK = 90_000
_RGB, _LIMITED = 0, 1


class StreamEncoder(Protocol):
    def take(self, packet: "Packet[Any]") -> Iterator["Packet[Any]"]:
        """Yield the packets to write now."""

    def finish(self) -> Iterator["Packet[Any]"]:
        """Yield the remaining packets at the end of the stream."""


class CopiedStream:
    """A stream that is copied without re-encoding. Everything except frames and audio is removed."""

    def __init__(self, source: VideoStream | AudioStream, output: OutputContainer) -> None:
        self._target = output.add_stream_from_template(source, opaque=True)
        filter_ = _ESSENTIALS.get(source.codec.canonical_name)
        self._filter = av.BitStreamFilterContext(filter_, source, self._target) if filter_ else None
        # Matroska stores no decoding times, so the decoding times of the first few packets are derived from
        # later packets.
        self._untimed: list[Packet[Any]] = []
        self._timed = False

    def take(self, packet: "Packet[Any]") -> Iterator["Packet[Any]"]:
        for copied in self._filter.filter(packet) if self._filter else [packet]:
            yield from self._in_time(copied)

    def finish(self) -> Iterator["Packet[Any]"]:
        for copied in self._filter.filter(None) if self._filter else []:
            yield from self._in_time(copied)
        yield from self._early(self._untimed[0].pts or 0 if self._untimed else 0)

    def _in_time(self, packet: "Packet[Any]") -> Iterator["Packet[Any]"]:
        packet.stream = self._target
        if packet.dts is not None:
            yield from self._early(packet.dts)
            self._timed = True
            yield packet
        elif not self._timed:
            if len(self._untimed) == _MAX_REORDERED:
                raise Rejected("invalid_video", "Its frames have no timestamps")
            self._untimed.append(packet)

    def _early(self, before: int) -> Iterator["Packet[Any]"]:
        """Yield the packets that have no time, one step apart."""
        step = max(1, min((packet.duration or 1 for packet in self._untimed), default=1))
        for behind, packet in zip(range(len(self._untimed), 0, -1), self._untimed, strict=True):
            packet.dts = before - behind * step
            yield packet
        self._untimed.clear()


class EncodedVideo:
    """A video stream that is decoded, shrunk if necessary, rotated upright, and encoded.

    `counted` is for a source without presentation times: its frames are shown at their decoding times.
    """

    def __init__(
        self,
        source: VideoStream,
        output: OutputContainer,
        codec: str,
        size: tuple[int, int],
        geometry: Geometry,
        *,
        counted: bool = False,
    ) -> None:
        self._source = source
        self._counted = counted
        self._first_dts: int | None = None
        self._size = size
        self._fields, self._turns = Filters(geometry.fields), Filters(geometry.turns)
        rate = min(Fraction(source.average_rate or source.guessed_rate or 30), Fraction(MAX_FPS))
        options = dict(_H264 if codec == "libx264" else _VP9)
        target = cast(VideoStream, output.add_stream(codec, rate=rate, options=options))
        target.width, target.height = geometry.rotate(size)
        target.pix_fmt = "yuv420p"
        self._conversion = _conversion(source)
        for tag, value in _colour(source).items():
            setattr(target.codec_context, tag, value)
        target.codec_context.time_base = Fraction(1, _CLOCK)
        target.codec_context.gop_size = max(1, int(rate * _KEYFRAME_EVERY_S))
        self._target = target
        self._step = 1 / rate
        self._last_at, self._next_at = Fraction(0), Fraction(0)
        self._began = False

    def take(self, packet: "Packet[Any]") -> Iterator["Packet[Any]"]:
        for frame in self._source.codec_context.decode(packet):
            yield from self._encode(frame)

    def finish(self) -> Iterator["Packet[Any]"]:
        for frame in self._source.codec_context.decode(None):
            yield from self._encode(frame)
        for frame in self._fields.finish():
            yield from self._encode_turned(frame)
        yield from self._target.encode(None)

    def _encode(self, frame: VideoFrame) -> Iterator["Packet[Any]"]:
        at = self._decoding_time(frame) if self._counted else _time(frame, self._source)
        if at is None or (self._began and at < self._next_at):
            return  # The frame has no time, goes back in time, or would exceed the maximum frame rate.
        self._began = True
        self._last_at, self._next_at = at, at + Fraction(1, MAX_FPS) * Fraction(9, 10)
        frame.pts, frame.time_base = round(at * _CLOCK), Fraction(1, _CLOCK)
        for whole in self._fields.feed(frame):
            yield from self._encode_turned(whole)

    def _encode_turned(self, frame: VideoFrame) -> Iterator["Packet[Any]"]:
        # Deinterlacing halves the time unit.
        at = (frame.pts or 0) * (frame.time_base or Fraction(1, _CLOCK))
        for ready in self._turns.feed(frame.reformat(*self._size, format="yuv420p", **self._conversion)):
            ready.pts, ready.time_base = round(at * _CLOCK), Fraction(1, _CLOCK)
            # The encoder chooses the keyframes.
            ready.pict_type = av.video.frame.PictureType.NONE
            yield from self._target.encode(ready)

    def _decoding_time(self, frame: VideoFrame) -> Fraction | None:
        if self._first_dts is None:
            self._first_dts = frame.dts
        if frame.dts is None or self._first_dts is None:
            return self._last_at + self._step  # The decoder returns its last frames without a time.
        return (frame.dts - self._first_dts) * (self._source.time_base or Fraction(1))


class EncodedAudio:
    """An audio stream that is decoded, resampled to a format that every device plays, and encoded.

    `counted` is for a source with imprecise times: its samples are assumed to follow each other without gaps.
    """

    def __init__(
        self, source: AudioStream, output: OutputContainer, codec: str, *, counted: bool = False
    ) -> None:
        self._samples = 0 if counted else None
        self._source = source
        self._target = cast(AudioStream, output.add_stream(codec, rate=SAMPLE_RATE))
        self._target.bit_rate = AUDIO_BIT_RATE
        self._target.codec_context.layout = "mono" if source.codec_context.channels == 1 else "stereo"
        self._target.codec_context.open()
        context = self._target.codec_context
        self._resampler = av.AudioResampler(
            context.format, context.layout, SAMPLE_RATE, frame_size=context.frame_size or None
        )

    def take(self, packet: "Packet[Any]") -> Iterator["Packet[Any]"]:
        for frame in self._source.codec_context.decode(packet):
            yield from self._encode(frame)

    def finish(self) -> Iterator["Packet[Any]"]:
        for frame in self._source.codec_context.decode(None):
            yield from self._encode(frame)
        for resampled in self._resampler.resample(None):
            yield from self._target.encode(resampled)
        yield from self._target.encode(None)

    def _encode(self, frame: AudioFrame) -> Iterator["Packet[Any]"]:
        frame.time_base = frame.time_base or self._source.time_base
        if self._samples is not None:
            frame.pts, frame.time_base = self._samples, Fraction(1, frame.sample_rate)
            self._samples += frame.samples
        for resampled in self._resampler.resample(frame):
            yield from self._target.encode(resampled)


def _colour(source: VideoStream) -> dict[str, int]:
    """Return the colour tags of the new frames. Without tags, players guess them from the size."""
    tags = {tag: int(getattr(source.codec_context, tag)) for tag in COLOUR_TAGS}
    if _is_rgb(source):
        # The output is YUV, although the source is tagged as RGB.
        stated = {tag: tags[tag] for tag in ("color_primaries", "color_trc") if tags[tag] != UNSPECIFIED}
        return dict.fromkeys(COLOUR_TAGS, BT709) | stated
    return tags | {"colorspace": matrix_of(source)}


def _conversion(source: VideoStream) -> dict[str, int]:
    """Return FFmpeg's numbers for the matrix and the range for converting RGB."""
    return {"dst_colorspace": BT709, "dst_color_range": _LIMITED} if _is_rgb(source) else {}


def _is_rgb(source: VideoStream) -> bool:
    format_ = source.codec_context.format
    return source.codec_context.colorspace == _RGB or (
        format_ is not None and (format_.is_rgb or format_.has_palette)
    )


def _time(frame: VideoFrame, source: VideoStream) -> Fraction | None:
    """Return a frame's time. The last frames from a decoder have no time unit."""
    unit = frame.time_base or source.time_base
    return frame.pts * unit if frame.pts is not None and unit is not None else None
