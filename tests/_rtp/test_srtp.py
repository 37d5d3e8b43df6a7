"""SRTP in the core interoperates with libsrtp's Python binding, regardless of which of the two encrypts."""

import os
import platform
import subprocess
import sys

import pylibsrtp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc._rtp.srtp import ENCRYPTION, GCM_TAG, OPENSSL, PROFILES, WINDOW, SrtpKeys, aes_by
from tests.kit import packets
from tests.kit.openssl_instructions import WITHOUT_AES

SSRC = 0xCAFEBABE
KEY_LENGTHS = {"AEAD_AES_128_GCM": 28, "AES_CM_128_HMAC_SHA1_80": 30}
OVERHEAD = {"AEAD_AES_128_GCM": GCM_TAG, "AES_CM_128_HMAC_SHA1_80": 10}


def key(profile: str, first: int = 0) -> bytes:
    return bytes((first + n) & 0xFF for n in range(KEY_LENGTHS[profile]))


def receiver(profile: str) -> pylibsrtp.Session:
    """Return the end that receives from the core. Its rollover counter starts at 0, like a browser's."""
    policy = pylibsrtp.Policy(
        key=key(profile), ssrc_type=pylibsrtp.Policy.SSRC_ANY_INBOUND, srtp_profile=PROFILES[profile]
    )
    policy.window_size = WINDOW
    return pylibsrtp.Session(policy)


def keys(profile: str, *, openssl: bool = True) -> SrtpKeys:
    return SrtpKeys(profile, key(profile), key(profile, 100), openssl=openssl)


def header(sequence: int, extensions: bytes = b"") -> bytes:
    return packets.rtp(
        ssrc=SSRC, sequence=sequence, payload_type=96, timestamp=1, marker=True, extensions=extensions
    )


@pytest.mark.skipif(
    sys.platform == "win32", reason="no library on Windows provides its OpenSSL, so libsrtp encrypts"
)
def test_the_core_encrypts_with_the_openssl_in_an_installed_wheel() -> None:
    assert OPENSSL
    assert ENCRYPTION["sealed_by"] in ("pylibsrtp-openssl", "hashlib-openssl")


@pytest.mark.parametrize(
    ("processor", "by"),
    [
        ("OPENSSL_ia32cap=0xfffa3203078bffff:0x00405fc6f1bf07ab:0x10", "hardware"),
        ("OPENSSL_ia32cap=0xfdfa3201078bffff:0x0 env:~0x200000200000000", "software"),
        ("OPENSSL_ia32cap=0xfffa3201078bffff:0x0", "software"),  # AES without carry-less multiplication
        # only the vector instructions
        ("OPENSSL_ia32cap=0xfdfa3201078bffff:0x18415fdef1bf07ab:0x0", "hardware"),
        # the vector instructions, but not those for AES
        ("OPENSSL_ia32cap=0xfdfa3201078bffff:0x184159def1bf07ab:0x0", "software"),
        ("OPENSSL_armcap=0xbd", "hardware"),
        ("OPENSSL_armcap=0x1", "software"),
        ("OPENSSL_armcap=0x0 env:0", "software"),
        ("OPENSSL_riscvcap=RV64GC_ZBA", "unknown"),
        ("", "unknown"),
    ],
)
def test_openssl_detects_whether_the_processor_has_aes(processor: str, by: str) -> None:
    assert aes_by(processor) == by


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="OpenSSL uses other variables on this machine"
)
def test_aes_in_software_gives_the_same_result() -> None:
    result = subprocess.run(
        [sys.executable, "-c", "from svc._rtp import srtp; print(srtp.OPENSSL, srtp.ENCRYPTION['aes'])"],
        env=os.environ | WITHOUT_AES,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == ["True", "software"]


SEAL_WITHOUT = """
import _hashlib, sys
from pylibsrtp import _binding
for library in (_binding, _hashlib)[:int(sys.argv[1])]:
    library.__file__ = "/nowhere"
from svc._rtp import srtp
keys = srtp.SrtpKeys("AEAD_AES_128_GCM", bytes(28), bytes(28))
print(srtp.ENCRYPTION["sealed_by"], len(keys.seal(b"\\x80" + bytes(11), b"", b"1234", 0, 0)))
"""


@pytest.mark.parametrize(
    ("hidden", "sealed_by"),
    [(1, {"hashlib-openssl", "libsrtp"}), (2, {"libsrtp"})],
    ids=["the wheel's, as on macOS", "hashlib's too, as on Windows"],
)
def test_without_openssl_the_next_library_encrypts(hidden: int, sealed_by: set[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", SEAL_WITHOUT, str(hidden)], capture_output=True, text=True, check=True
    )
    library, length = result.stdout.split()
    assert library in sealed_by
    assert int(length) == 12 + 4 + GCM_TAG


@pytest.mark.parametrize("openssl", [True, False])
@pytest.mark.parametrize("profile", PROFILES)
def test_libsrtp_decrypts_the_cores_packets(profile: str, openssl: bool) -> None:
    ours, theirs = keys(profile, openssl=openssl), receiver(profile)
    # The sequence numbers wrap around, so that the rollover counter matters.
    for index in range(65530, 65540):
        sealed = ours.seal(header(index), b"", b"payload", SSRC, index)
        assert len(sealed) == 12 + 7 + OVERHEAD[profile]
        assert theirs.unprotect(sealed) == header(index) + b"payload"


@pytest.mark.parametrize("profile", PROFILES)
def test_both_libraries_encrypt_to_the_same_bytes(profile: str) -> None:
    fast, slow = keys(profile), keys(profile, openssl=False)
    for index in (1, 2, 3, 65535, 65536, 65537):
        for length in (1, 15, 16, 17, 1200):
            args = (
                header(index, packets.one_byte_extensions([(3, b"abc")])),
                b"\1\2",
                bytes(length),
                SSRC,
                index,
            )
            assert fast.seal(*args) == slow.seal(*args)


@settings(max_examples=50)
@given(st.sampled_from(sorted(PROFILES)), st.binary(max_size=2), st.binary(min_size=1, max_size=1400))
def test_a_prefix_and_a_payload_are_encrypted_as_one_message(
    profile: str, prefix: bytes, payload: bytes
) -> None:
    sealed = keys(profile).seal(header(7), prefix, payload, SSRC, 7)
    assert receiver(profile).unprotect(sealed) == header(7) + prefix + payload


@pytest.mark.parametrize("openssl", [True, False])
@pytest.mark.parametrize("profile", PROFILES)
def test_the_same_packet_with_the_same_index_becomes_the_same_datagram(profile: str, openssl: bool) -> None:
    ours = keys(profile, openssl=openssl)
    first = ours.seal(header(5), b"", b"payload", SSRC, 5)
    for index in range(6, 1000):
        ours.seal(header(index), b"", b"other", SSRC, index)
    assert ours.seal(header(5), b"", b"payload", SSRC, 5) == first


@pytest.mark.parametrize("profile", PROFILES)
def test_header_payload_and_tag_are_all_authenticated(profile: str) -> None:
    sealed = keys(profile).seal(header(5), b"", b"payload", SSRC, 5)
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(pylibsrtp.Error):
            receiver(profile).unprotect(bytes(changed))


def test_every_ssrc_and_index_has_its_own_key_stream() -> None:
    ours = keys("AEAD_AES_128_GCM")
    pairs = [(ssrc, index) for ssrc in (1, SSRC) for index in (5, 6, 65541)]
    assert len({ours.seal(header(5), b"", bytes(64), *pair)[12:76] for pair in pairs}) == len(pairs)


def test_an_unknown_profile_and_a_key_of_the_wrong_length_are_rejected() -> None:
    with pytest.raises(ValueError, match="unknown SRTP profile: NULL"):
        SrtpKeys("NULL", bytes(28), bytes(28))
    for profile, length in KEY_LENGTHS.items():
        with pytest.raises(ValueError, match="key must contain"):
            SrtpKeys(profile, bytes(length), bytes(length - 1))


def test_a_packet_that_cannot_be_encrypted_is_rejected() -> None:
    with pytest.raises(ValueError, match="at most 1500 bytes"):
        keys("AEAD_AES_128_GCM").seal(header(5), b"", bytes(1489), SSRC, 5)


def sender(profile: str) -> pylibsrtp.Session:
    """Return the end that sends to the core."""
    return pylibsrtp.Session(
        pylibsrtp.Policy(
            key=key(profile, 100),
            ssrc_type=pylibsrtp.Policy.SSRC_ANY_OUTBOUND,
            srtp_profile=PROFILES[profile],
        )
    )


# Each profile is tested with OpenSSL where possible and with libsrtp, which must give the same results.
OPENED = [(profile, openssl) for profile in PROFILES for openssl in (True, False)]


@pytest.mark.parametrize(("profile", "openssl"), OPENED)
def test_a_packet_encrypted_by_libsrtp_is_decrypted_once(profile: str, openssl: bool) -> None:
    ours, theirs = keys(profile, openssl=openssl), sender(profile)
    for index in range(65530, 65540):
        plain = header(index, extensions=packets.one_byte_extensions([(3, b"abc")])) + b"payload"
        sealed = theirs.protect(plain)
        assert ours.open(sealed) == plain
        assert ours.open(sealed) is None


@pytest.mark.parametrize(("profile", "openssl"), OPENED)
@given(order=st.permutations(range(64)), start=st.integers(0, 0xFFFF - 64))
@settings(max_examples=20)
def test_each_packet_is_decrypted_once_regardless_of_the_order(
    profile: str, openssl: bool, order: list[int], start: int
) -> None:
    ours, theirs = keys(profile, openssl=openssl), sender(profile)
    sealed = [theirs.protect(header(start + number) + b"x") for number in range(64)]
    opened = [number for number in order + order if ours.open(sealed[number]) is not None]
    assert opened == order


@pytest.mark.parametrize(("profile", "openssl"), OPENED)
def test_a_late_packet_is_decrypted_only_within_the_window(profile: str, openssl: bool) -> None:
    ours, theirs = keys(profile, openssl=openssl), sender(profile)
    sealed = [theirs.protect(header(100 + number) + b"x") for number in range(WINDOW + 2)]
    assert ours.open(sealed[0]) is not None
    assert ours.open(sealed[WINDOW + 1]) is not None
    assert ours.open(sealed[1]) is None  # just outside the window
    assert ours.open(sealed[2]) is not None
    assert ours.open(sealed[2]) is None
    assert ours.open(sealed[WINDOW]) is not None


@given(
    steps=st.lists(
        st.integers(-3_000, 70_000) | st.sampled_from([32_767, 32_768, 32_769, 65_535]),
        min_size=1,
        max_size=12,
    ),
    start=st.integers(0, 0xFFFF),
)
@settings(max_examples=200)
def test_the_core_decrypts_the_same_packets_as_libsrtp_after_any_jump(steps: list[int], start: int) -> None:
    profile = "AEAD_AES_128_GCM"
    ours, libsrtp = keys(profile), keys(profile)
    sealer = SrtpKeys(profile, key(profile, 100), key(profile))
    index = start
    for step in [0, *steps]:
        index = max(0, index + step)
        sealed = sealer.seal(header(index & 0xFFFF), b"", b"x", SSRC, index)
        assert ours.open(sealed) == libsrtp.unprotect(sealed)


@pytest.mark.parametrize(("profile", "openssl"), OPENED)
def test_a_forged_packet_does_not_affect_the_replay_window(profile: str, openssl: bool) -> None:
    ours, theirs = keys(profile, openssl=openssl), sender(profile)
    first, second = theirs.protect(header(1) + b"one"), theirs.protect(header(2) + b"two")
    assert ours.open(first) is not None
    far = header(30_000) + bytes(20)
    assert ours.open(far) is None
    for at in range(12, len(second)):
        assert ours.open(second[:at] + bytes([second[at] ^ 1]) + second[at + 1 :]) is None
    assert ours.open(second) == header(2) + b"two"


@pytest.mark.parametrize("cut", [0, 1, 11, 12, 20, 27])
def test_a_packet_without_a_complete_header_or_tag_is_not_decrypted(cut: int) -> None:
    profile = "AEAD_AES_128_GCM"
    sealed = sender(profile).protect(header(1, extensions=packets.one_byte_extensions([(3, b"abc")])) + b"")
    assert keys(profile).open(sealed[:cut]) is None


def test_a_header_longer_than_the_packet_is_rejected() -> None:
    profile = "AEAD_AES_128_GCM"
    sealed = bytearray(sender(profile).protect(header(1) + b"payload"))
    for first in (0x8F, 0x90, 0x9F):  # contributing sources, an extension, or both
        sealed[0] = first
        assert keys(profile).open(bytes(sealed)) is None
