"""Defines the audio of Chromium's simulated microphone, and call settings that leave it unprocessed."""

from pathlib import Path

# A tone of 0.12 s every 0.6 s, so that the member counts as speaking continuously. The browser's own beeps
# are too short for that, unless it amplifies them.
BEEPS = Path(__file__).parents[1] / "data" / "beeps.wav"
UNFILTERED = """
if (/^https?:/.test(location.protocol) && self.origin !== "null")
  localStorage["svc.callSettings"] ??= JSON.stringify(
    { quality: "high", noise: "off", autoGainControl: false, echoCancellation: false });
"""
