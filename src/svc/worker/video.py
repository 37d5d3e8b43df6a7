"""Checks and rewrites a video with PyAV inside the sandbox, and extracts a frame for the poster.

The container is determined from the first bytes, never guessed by the library. Both files are passed as open
descriptors, so a playlist or a reference cannot open another file. One video stream and one audio stream are
kept. Everything else (locations, names, chapters, covers, data tracks) is dropped. Only the sandbox's child
imports this module.
"""

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from tempfile import TemporaryFile
from typing import IO, Any, cast

import av
import av.logging
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from svc.base.sandbox_protocol import Outcome, Progress, Rejected
from svc.worker.geometry import DEINTERLACED, Filters, Geometry, fit_size, geometry_of, matrix_of
from svc.worker.stream_encoders import CopiedStream, EncodedAudio, EncodedVideo, StreamEncoder

# Maps each codec that every browser plays to its container, and each container to the audio codecs allowed in
# it.
_HOMES = {"h264": "mp4", "vp8": "webm", "vp9": "webm", "av1": "webm"}
_SOUNDS = {"mp4": ("aac",), "webm": ("opus", "vorbis")}
_PROFILES = {"Baseline", "Constrained Baseline", "Main", "High"}
# Encoders with their containers. The first available encoder is used.
_ENCODERS = (("libx264", "mp4"), ("libvpx-vp9", "webm"))
_AUDIO_ENCODERS = {"mp4": "aac", "webm": "libopus"}
# The longest side of the poster. `svc.base.pictures` makes the final image.
POSTER_SIDE = 1280
# High dynamic range transfer functions, by H.273 number: PQ and HLG.
_HDR = (16, 18)
_TO_BT709 = "out_color_matrix=bt709:out_primaries=bt709:out_transfer=bt709:intent=perceptual"
# The position of the poster. The first frame is usually black.
_POSTER_AT = Fraction(1, 10)
_PROGRESS_STEP = 0.01


@dataclass(frozen=True, slots=True)
class _Bounds:
    max_duration_s: float
    max_pixels: int
    max_packets: int
    max_side: int  # The limit for video that has to be re-encoded.


def prepare() -> None:
    """Run every step once, because libraries cannot load anything later."""
    av.logging.set_level(None)
    arguments = {"container": "mov", "bounds": asdict(_Bounds(60, 10_000, 1000, 64))}
    with TemporaryFile() as strange, TemporaryFile() as usual, TemporaryFile() as copied:
        _sample(strange)
        for source, target in ((strange, usual), (usual, copied)):
            if "libx264" in av.codecs_available or source is strange:
                rewrite([source.fileno(), target.fileno()], arguments, lambda _: None)
    frame = av.VideoFrame(16, 16, "yuv420p")
    frame.pts, frame.time_base = 0, Fraction(1, 8)
    list(Filters([DEINTERLACED, ("hflip", ""), ("vflip", ""), ("transpose", "clock")]).feed(frame))


def _sample(file: IO[bytes]) -> None:
    """Write half a second of black and silence, in a codec that has to be re-encoded."""
    with av.open(file, "w", format="mov") as output:
        pictures = output.add_stream("mpeg4", rate=8)
        sound = output.add_stream("pcm_s16le", rate=8000)
        pictures.width, pictures.height, pictures.pix_fmt = 16, 16, "yuv420p"
        sound.codec_context.layout = "mono"
        for number in range(4):
            frame = av.VideoFrame(16, 16, "yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, 8)
            output.mux(pictures.encode(frame))
            silence = av.AudioFrame("s16", "mono", 1000)
            silence.planes[0].update(bytes(silence.planes[0].buffer_size))
            silence.sample_rate, silence.pts, silence.time_base = 8000, number * 1000, Fraction(1, 8000)
            output.mux(sound.encode(silence))
        output.mux(pictures.encode(None))
        output.mux(sound.encode(None))
    file.flush()


def rewrite(files: Sequence[int], arguments: Mapping[str, object], progress: Progress) -> Outcome:
    """Rewrite the first file into the second. Return the properties of the video, and one frame as a PNG."""
    numbers = cast(Mapping[str, float], arguments["bounds"])
    bounds = _Bounds(
        numbers["max_duration_s"],
        int(numbers["max_pixels"]),
        int(numbers["max_packets"]),
        int(numbers["max_side"]),
    )
    container, target = str(arguments["container"]), _Place(files[1])
    with os.fdopen(files[0], "rb", closefd=False) as source:
        poster, geometry = _poster(source, container, bounds)
        source.seek(0)
        try:
            facts = _written(source, container, target, bounds, geometry, progress)
        except av.FFmpegError:
            if target.full:
                raise Rejected("too_large", "The result would be too large") from None
            raise
    return facts, [poster]


def listen(files: Sequence[int], arguments: Mapping[str, object], _: Progress) -> Outcome:
    """Return the duration of the first file's audio.

    Raises Rejected if it has no audio, or if it has video.
    """
    with (
        os.fdopen(files[0], "rb", closefd=False) as source,
        av.open(source, "r", format=str(arguments["container"])) as media,
    ):
        sounds = [s.codec.canonical_name for s in media.streams.audio if s.codec_context is not None]
        if _moving(media) or not sounds:
            raise Rejected("unsupported_type", "It is not an audio file")
        duration = media.duration
    duration_ms = None if duration is None else round(duration * 1000 / av.time_base)
    return {"duration_ms": duration_ms, "codec": sounds[0]}, []


def _written(
    source: IO[bytes],
    container: str,
    target: "_Place",
    bounds: _Bounds,
    geometry: Geometry,
    progress: Progress,
) -> Mapping[str, object]:
    is_cut = container == "mov" and _is_cut(source, bounds)
    source.seek(0)
    with av.open(source, "r", format=container) as media:
        video, audio = _streams(media, bounds)
        plan = _plan(container, video, audio, geometry, is_cut=is_cut)
        size = geometry.display_size(video.width, video.height)
        size = size if plan.copies else fit_size(*size, bounds.max_side)
        with _output(target, plan.container) as output:
            encoders: dict[int, StreamEncoder] = {
                video.index: plan.video_encoder(video, output, size, geometry)
            }
            if audio is not None:
                encoders[audio.index] = plan.audio_encoder(audio, output)
            duration_s = _run(
                media, [s for s in (video, audio) if s is not None], encoders, output, bounds, progress
            )
    width, height = geometry.rotate(size)
    return {
        "container": plan.container,
        "copied": plan.copies,
        "width": width,
        "height": height,
        "duration_ms": round(duration_s * 1000),
    }


@dataclass(frozen=True, slots=True)
class _Plan:
    container: str
    copies: bool
    encoder: str
    copies_sound: bool
    counted: bool

    def video_encoder(
        self, source: VideoStream, output: OutputContainer, size: tuple[int, int], geometry: Geometry
    ) -> StreamEncoder:
        if self.copies:
            return CopiedStream(source, output)
        return EncodedVideo(source, output, self.encoder, size, geometry, counted=self.counted)

    def audio_encoder(self, source: AudioStream, output: OutputContainer) -> StreamEncoder:
        if self.copies_sound:
            return CopiedStream(source, output)
        return EncodedAudio(source, output, _AUDIO_ENCODERS[self.container], counted=self.counted)


def _plan(
    source: str, video: VideoStream, audio: AudioStream | None, geometry: Geometry, *, is_cut: bool
) -> _Plan:
    """Decide which streams to encode. A stream is copied only if every browser plays it and displays it in
    the same way.
    """
    context, codec = video.codec_context, video.codec.canonical_name
    container = _HOMES.get(codec, "")
    # AVI has no presentation times, so its frames and audio are timed by counting.
    counted = source == "avi"
    copies = (
        bool(container)
        and not counted
        and context.pix_fmt == "yuv420p"
        and (codec != "h264" or context.profile in _PROFILES)
        # WebM cannot store a rotation.
        and (not geometry.turns or container == "mp4")
        and not geometry.is_mirrored
        and not geometry.is_interlaced
        and not is_cut
        # The copy would lose the pixel aspect ratio if only the old container stores it.
        and geometry.aspect == (context.sample_aspect_ratio or 1)
    )
    encoder = ""
    if not copies:
        encoder, container = next(pair for pair in _ENCODERS if pair[0] in av.codecs_available)
    sound = audio.codec.canonical_name if audio is not None else ""
    return _Plan(
        container, copies, encoder, sound in _SOUNDS[container] and not counted and not is_cut, counted
    )


def _streams(media: InputContainer, bounds: _Bounds) -> tuple[VideoStream, AudioStream | None]:
    """Return the video stream and the audio stream. Raises Rejected."""
    pictures = _moving(media)
    if not pictures:
        raise Rejected("no_pictures", "It contains no video")
    video = pictures[0]
    _check_size(video.width, video.height, bounds)
    if media.duration is not None and media.duration / av.time_base > bounds.max_duration_s:
        raise _too_long(bounds)
    sounds = [s for s in media.streams.audio if s.codec_context is not None and s.codec_context.channels]
    # Prefer the default track, because there may be several languages.
    usual = [s for s in sounds if s.disposition & av.stream.Disposition.default]
    return video, next(iter([*usual, *sounds]), None)


def _is_cut(source: IO[bytes], bounds: _Bounds) -> bool:
    """Return whether an edit list hides frames. In a copy, the hidden frames would reappear."""
    source.seek(0)
    with av.open(source, "r", format="mov") as media:
        video, _ = _streams(media, bounds)
        return any(packet.is_discard for packet in _demux_bounded(media, [video], bounds))


def _moving(media: InputContainer) -> list[VideoStream]:
    """Return the video streams except covers, which have a single frame."""
    return [s for s in media.streams.video if not s.disposition & av.stream.Disposition.attached_pic]


def _check_size(width: int, height: int, bounds: _Bounds) -> None:
    if width < 2 or height < 2:
        raise Rejected("invalid_video", "Its frames have no size")
    if width * height > bounds.max_pixels:
        raise Rejected("too_large", f"Its frames have more than {bounds.max_pixels} pixels")


def _run(
    media: InputContainer,
    streams: Sequence[VideoStream | AudioStream],
    encoders: Mapping[int, StreamEncoder],
    output: OutputContainer,
    bounds: _Bounds,
    progress: Progress,
) -> float:
    """Pass all packets through their encoders. Return the duration in seconds, computed from the packet
    times.
    """
    expected_s = (media.duration or 0) / av.time_base or bounds.max_duration_s
    first_s, last_s, reported = None, 0.0, 0.0
    for packet in _demux_bounded(media, streams, bounds):
        if packet.pts is not None and packet.time_base is not None and not packet.is_discard:
            # Nothing before timestamp 0 is played. In audio, that part is silence that the encoder needed to
            # start.
            at_s = max(0.0, float(packet.pts * packet.time_base))
            first_s = at_s if first_s is None else min(first_s, at_s)
            last_s = max(last_s, at_s + float((packet.duration or 0) * packet.time_base))
            if last_s - first_s > bounds.max_duration_s:
                raise _too_long(bounds)
            done = (last_s - first_s) / expected_s
            if done >= reported + _PROGRESS_STEP:
                reported = done
                progress(min(done, 1.0))
        for written in encoders[packet.stream.index].take(packet):
            output.mux(written)
    for encoder in encoders.values():
        for written in encoder.finish():
            output.mux(written)
    return last_s - (first_s or 0.0)


def _demux_bounded(
    media: InputContainer, streams: Sequence[VideoStream | AudioStream], bounds: _Bounds
) -> Iterator["Packet[Any]"]:
    left = bounds.max_packets
    for packet in media.demux(*streams):
        if packet.size == 0:
            continue
        left -= 1
        if left < 0:
            raise Rejected("too_large", f"It has more than {bounds.max_packets} packets")
        yield packet


def _too_long(bounds: _Bounds) -> Rejected:
    return Rejected("too_long", f"It is longer than {bounds.max_duration_s:.0f} seconds")


def _poster(source: IO[bytes], container: str, bounds: _Bounds) -> tuple[bytes, Geometry]:
    """Return one frame as a PNG, as it should be displayed, and the frame's geometry.

    A file without any frame is not a video.
    """
    with av.open(source, "r", format=container) as media:
        video, _ = _streams(media, bounds)
        video.codec_context.thread_count = 1
        frame = _moment(media, video, bounds)
        geometry = geometry_of(frame, video)
        _check_size(frame.width, frame.height, bounds)
        small = fit_size(*geometry.display_size(frame.width, frame.height), POSTER_SIDE)
        fields, turns = Filters(geometry.fields), Filters(geometry.turns)
        [whole] = [*fields.feed(frame), *fields.finish()]
        [shown] = turns.feed(_in_rgb(whole, video, small))
        return _png(shown), geometry


def _in_rgb(frame: VideoFrame, video: VideoStream, size: tuple[int, int]) -> VideoFrame:
    """Scale a frame and convert it to RGB. High dynamic range is mapped to the range of a PNG (BT.709)."""
    if video.codec_context.color_trc not in _HDR:
        # FFmpeg numbers matrices as H.273 does.
        return frame.reformat(*size, format="rgb24", src_colorspace=matrix_of(video))
    graph = av.filter.Graph()
    graph.link_nodes(
        graph.add_buffer(template=video),
        graph.add("scale", f"{size[0]}:{size[1]}:{_TO_BT709}"),
        graph.add("format", "rgb24"),
        graph.add("buffersink"),
    ).configure()
    graph.vpush(frame)
    return graph.vpull()


def _moment(media: InputContainer, video: VideoStream, bounds: _Bounds) -> VideoFrame:
    """Return a frame from shortly after the start, or the first frame if there is no such frame."""
    if media.duration:
        try:
            media.seek(int(media.duration * _POSTER_AT))
            if (frame := _first(media, video, bounds)) is not None:
                return frame
        except av.FFmpegError:
            pass  # Some files do not support seeking.
        media.seek(0)
    if (frame := _first(media, video, bounds)) is None:
        raise Rejected("invalid_video", "None of its frames can be decoded")
    return frame


def _first(media: InputContainer, video: VideoStream, bounds: _Bounds) -> VideoFrame | None:
    video.codec_context.flush_buffers()
    for packet in _demux_bounded(media, [video], bounds):
        for frame in packet.decode():
            return frame
    return next(iter(video.codec_context.decode(None)), None)


def _png(frame: VideoFrame) -> bytes:
    encoder = av.CodecContext.create("png", "w")
    encoder.width, encoder.height, encoder.pix_fmt = frame.width, frame.height, "rgb24"
    encoder.time_base = Fraction(1, 25)
    frame.pts = None
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


def _output(file: "_Place", container: str) -> OutputContainer:
    """Open the output. An MP4 is read while it is written, to move its index to the front."""
    options = {"fflags": "+bitexact"} | ({"movflags": "+faststart"} if container == "mp4" else {})
    return av.open(file, "w", format=container, options=options, io_open=lambda *_: _Place(file.descriptor))


class _Place:
    """A file object for a descriptor, with its own position."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.full = False
        self._at = 0

    def read(self, size: int) -> bytes:
        data = os.pread(self.descriptor, size, self._at)
        self._at += len(data)
        return data

    def write(self, data: bytes) -> int:
        left = memoryview(data)
        while left:
            try:
                written = os.pwrite(self.descriptor, left, self._at)
            except OSError as fault:
                self.full = fault.errno == errno.EFBIG
                raise
            self._at += written
            left = left[written:]
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            # pread and pwrite take a position, so the descriptor's own position does not matter.
            self._at = os.lseek(self.descriptor, offset, os.SEEK_END)
        else:
            self._at = offset + (self._at if whence == os.SEEK_CUR else 0)
        return self._at

    def tell(self) -> int:
        return self._at
