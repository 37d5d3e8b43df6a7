"""`svc rtp plot` finds the frames, losses and rates in a capture, and plots them."""

import sys
from pathlib import Path

import pytest

from svc.cli import main
from svc.tools.rtp.timeline import INTERVAL_S, Timeline, timeline
from tests.kit.captures import FOLDER, NAMES, capture
from tests.kit.temporal_filter import records, video

PNG, SVG = b"\x89PNG\r\n\x1a\n", b"<?xml"


def of(name: str) -> Timeline:
    return timeline(records(name), capture(name).descriptor_id)


@pytest.mark.parametrize("name", ["vp8_l1t3", "av1_l1t3_av", "av1_l3t3_key"])
def test_each_frame_has_its_layer_and_size(name: str) -> None:
    expected: dict[tuple[int, str], int] = {}
    for packet in video(name).packets:
        dd = packet.row["dd"]
        key = dd["frame_number"], f"S{dd['spatial_id']}T{dd['temporal_id']}"
        expected[key] = expected.get(key, 0) + len(packet.data)
    assert [(frame.layer, frame.size) for frame in of(name).frames] == [
        (layer, size) for (_, layer), size in expected.items()
    ]


def test_frames_without_dependencies_are_marked_as_keyframes() -> None:
    starts = {packet.row["ts"] for packet in video("vp8_l1t3").packets if not packet.row["dd"]["fdiffs"]}
    assert {frame.timestamp for frame in of("vp8_l1t3").frames if frame.keyframe} == starts


def test_the_spatial_layers_of_a_picture_are_stacked() -> None:
    pictures: dict[int, list[tuple[int, int]]] = {}
    for frame in of("av1_l3t3_key").frames:
        pictures.setdefault(frame.timestamp, []).append((frame.below, frame.size))
    assert max(len(picture) for picture in pictures.values()) == 3
    for picture in pictures.values():
        assert [below for below, _ in picture] == [
            sum(s for _, s in picture[:i]) for i in range(len(picture))
        ]


def test_without_descriptors_packets_with_the_same_timestamp_form_a_frame() -> None:
    frames = of("vp8_l1t3_nodd")
    assert frames.layers == [""]
    assert len(frames.frames) == len({frame.timestamp for frame in frames.frames}) == 120


def test_losses_are_marked_as_recovered_or_not() -> None:
    dropped = {row["seq"] for row in capture("av1_l1t3_loss").sidecar["dropped_by_relay"]}
    first = video("av1_l1t3_loss").packets[0].row["seq"]
    nowhere = first + 60
    assert nowhere not in dropped

    def came(data: bytes) -> bool:
        return data[1] & 0x7F != 45 or int.from_bytes(data[2:4], "big") not in dropped | {nowhere}

    frames = timeline([record for record in records("av1_l1t3_loss") if came(record.data)], 13)
    assert sorted(loss.recovered for loss in frames.losses) == [False] + [True] * len(dropped)


@pytest.mark.parametrize("name", NAMES)
def test_the_rates_add_up_to_the_sending_rate(name: str) -> None:
    frames = of(name)
    # The total is at least the size of the media stream, and at most the size of all packets.
    stream = [p for p in capture(name).packets if p.header["ssrc"] == frames.ssrc]
    total = sum(sum(kbps) for kbps in frames.kbps.values()) * INTERVAL_S * 1000 / 8
    assert sum(len(p.data) for p in stream) <= round(total) <= sum(len(p.data) for p in capture(name).packets)


@pytest.mark.parametrize(("ending", "magic"), [("png", PNG), ("svg", SVG)])
@pytest.mark.parametrize("name", ["av1_l1t3_loss", "av1_l3t3_key", "vp8_l1t3_nodd", "opus"])
def test_a_plot_is_written(name: str, ending: str, magic: bytes, tmp_path: Path) -> None:
    output = tmp_path / f"picture.{ending}"
    arguments = ["rtp", "plot", str(FOLDER / f"{name}.rtpdump"), "-o", str(output), "--dd-id", "13"]
    assert main(arguments) == 0
    assert output.read_bytes().startswith(magic)


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("picture.gif", "picture.gif: the file name must end in .png or .svg"),
        ("none/picture.png", "none/picture.png: No such file or directory"),
    ],
)
def test_a_plot_that_cannot_be_drawn_is_reported_on_one_line(
    output: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["rtp", "plot", str(FOLDER / "opus.rtpdump"), "-o", output]) == 2
    assert capsys.readouterr().err == f"svc rtp: {line}\n"


def test_without_matplotlib_the_command_names_the_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["rtp", "plot", str(FOLDER / "opus.rtpdump"), "-o", str(tmp_path / "x.png")]) == 2
    assert (
        capsys.readouterr().err
        == f"svc rtp: plotting needs a library: {sys.executable} -m pip install matplotlib\n"
    )
