"""Measures encryption with and without the processor's AES instructions. python -m benchmarks.encryption

Each variant runs in a separate process, because OpenSSL detects the processor only once. The variants
alternate, and the best of several rounds counts. "Without" is OpenSSL's code for a processor that has vector
instructions but neither AES nor carry-less multiplication, such as the processor of a Raspberry Pi 4. The
figures are CPU time with hot caches and one receiver.
"""

import json
import os
import subprocess
import sys
import time

from tests.kit.openssl_instructions import WITHOUT_AES

ROUNDS = 5
# With this many repetitions, a round takes about 50 ms.
TIMES = 50_000
SIZES = (1100, 100)
PROFILES = {"AEAD_AES_128_GCM": 28, "AES_CM_128_HMAC_SHA1_80": 30}
WAYS = {"with": {}, "without": WITHOUT_AES}


def main(arguments: list[str]) -> None:
    if arguments == ["--run"]:
        print(json.dumps(measure()))
        return
    results = {way: [_in_a_process(masked) for _ in range(ROUNDS)] for way, masked in WAYS.items()}
    print(
        "| profile | sealed by | AES instructions | AES by | "
        + " | ".join(f"{s} B, ns" for s in SIZES)
        + " |"
    )
    print("|---|---|---|---|" + "---|" * len(SIZES))
    for number, (profile, library, _, _) in enumerate(results["with"][0]):
        for way, rounds in results.items():
            best = [min(round_[number][3][at] for round_ in rounds) for at in range(len(SIZES))]
            by = rounds[0][number][2]
            print(
                f"| {profile} | {library} | {way} | {by} | " + " | ".join(f"{ns:.0f}" for ns in best) + " |"
            )


Row = tuple[str, str, str, list[float]]


def _in_a_process(masked: dict[str, str]) -> list[Row]:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.encryption", "--run"],
        env=os.environ | masked,
        stdout=subprocess.PIPE,
        check=True,
    )
    return [(profile, library, by, figures) for profile, library, by, figures in json.loads(result.stdout)]


def measure() -> list[Row]:
    """Return the nanoseconds per packet, by size and by library, as measured in this process."""
    from svc._rtp.srtp import ENCRYPTION

    rows: list[Row] = []
    for profile in PROFILES:
        libraries = ["libsrtp"] if profile.startswith("AES_CM") else [ENCRYPTION["sealed_by"], "libsrtp"]
        for library in dict.fromkeys(libraries):
            figures = [_nanoseconds(profile, size, openssl=library != "libsrtp") for size in SIZES]
            rows.append((profile, library, ENCRYPTION["aes"], figures))
    return rows


def _nanoseconds(profile: str, size: int, *, openssl: bool) -> float:
    from benchmarks.micro.loops import Protect
    from svc._rtp.srtp import SrtpKeys

    key = bytes(range(PROFILES[profile]))
    step = Protect(SrtpKeys(profile, key, key, openssl=openssl), size)
    step.run(TIMES // 10)
    started = time.process_time_ns()
    step.run(TIMES)
    return (time.process_time_ns() - started) / TIMES


if __name__ == "__main__":
    main(sys.argv[1:])
