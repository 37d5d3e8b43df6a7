"""Encrypts and decrypts SRTP and SRTCP without the GIL, by calling pylibsrtp's copy of libsrtp through
function pointers.

With AES-GCM, media is encrypted and decrypted by the OpenSSL in the same wheel, at a third to a half of the
cost, and is encrypted directly from where the payload is stored. The wheel exports these functions by
accident. They are tested on known packets at import. If the result differs from libsrtp's, libsrtp does
everything.

Keys come from DTLS; nothing is negotiated here. Functions return the packet's new length, or -1. A packet
that fails is the peer's fault. See RFC 3711 (SRTP), RFC 7714 (AES-GCM), RFC 5764 section 4.2.
"""

import ctypes
import re
from itertools import zip_longest
from pathlib import Path

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy, memset

import pylibsrtp
from pylibsrtp import _binding
from pylibsrtp._binding import ffi, lib

from svc._rtp.replay cimport begin, came, guess_index, may_come
from svc._rtp.wire cimport load16, load32, load64, store32, store64

# srtp_err_status_t srtp_...(srtp_t ctx, void *packet, int *length)
ctypedef int (*srtp_function)(void*, void*, int*) noexcept nogil


def _libsrtp(name: str) -> int:
    return int(ffi.cast("uintptr_t", ffi.addressof(lib, name)))


cdef srtp_function srtp_protect = <srtp_function><uintptr_t>_libsrtp("srtp_protect")
cdef srtp_function srtp_unprotect = <srtp_function><uintptr_t>_libsrtp("srtp_unprotect")
cdef srtp_function srtp_protect_rtcp = <srtp_function><uintptr_t>_libsrtp("srtp_protect_rtcp")
cdef srtp_function srtp_unprotect_rtcp = <srtp_function><uintptr_t>_libsrtp("srtp_unprotect_rtcp")

PROFILES = {
    "AEAD_AES_128_GCM": pylibsrtp.Policy.SRTP_PROFILE_AEAD_AES_128_GCM,
    "AES_CM_128_HMAC_SHA1_80": pylibsrtp.Policy.SRTP_PROFILE_AES128_CM_SHA1_80,
}
# The number of packets in a replay window. Browsers resend large keyframes late, and in other products, a
# window of 64 has frozen shared screens. The window is no larger than reception's SEEN_WINDOW, beyond which a
# packet is too old anyway, and covers twice as many packets as a history resends. The window should not be
# larger, because libsrtp moves the whole window for every packet.
WINDOW = 2048
GCM_TAG = 16
cdef enum:
    GCM_TAG_BYTES = 16


cdef inline int run(srtp_function function, SrtpContext* context, uint8_t* packet, int length) noexcept nogil:
    cdef int size = length
    if function(context.session, packet, &size) != 0:
        return -1
    return size


cdef int unprotect(SrtpContext* context, ReplayWindow* window, uint8_t* packet, int length) noexcept nogil:
    """Authenticate and decrypt an RTP packet in place.

    `window` belongs to the packet's SSRC and records the index. Without a window, libsrtp does everything.
    """
    if window != NULL and context.cipher != NULL:
        return open_gcm(context, window, packet, length)
    length = run(srtp_unprotect, context, packet, length)
    if window != NULL and length >= 0:
        came(window, guess_index(window, load16(packet + 2)))
    return length


cdef int protect_rtcp(SrtpContext* context, uint8_t* packet, int length) noexcept nogil:
    """Encrypt a compound in place. Up to MAX_TRAILER bytes may be added."""
    return run(srtp_protect_rtcp, context, packet, length)


cdef int unprotect_rtcp(SrtpContext* context, uint8_t* packet, int length) noexcept nogil:
    """Authenticate and decrypt a compound in place."""
    return run(srtp_unprotect_rtcp, context, packet, length)


cdef int seal(SrtpContext* context, uint8_t* packet, const Plaintext* plaintext) noexcept nogil:
    """Encrypt the prefix and the payload behind the header at `packet`. Up to MAX_TRAILER bytes are added.

    Under one key, an (SSRC, index) pair may repeat only with the same bytes (RFC 7714 section 8.1). The
    caller must ensure this.
    """
    cdef size_t length = plaintext.header_length
    if context.cipher != NULL:
        return seal_gcm(context, packet, plaintext)
    if plaintext.prefix_length:
        memcpy(packet + length, plaintext.prefix, plaintext.prefix_length)
        length += plaintext.prefix_length
    memcpy(packet + length, plaintext.payload, plaintext.payload_length)
    length += plaintext.payload_length
    return run(srtp_protect, context, packet, <int>length)


# --- AES-GCM by the wheel's OpenSSL ---

cdef enum:
    GET_TAG = 0x10          # EVP_CTRL_AEAD_GET_TAG
    SET_TAG = 0x11

ctypedef void* (*new_function)() noexcept nogil
ctypedef void (*free_function)(void*) noexcept nogil
ctypedef void* (*algorithm_function)() noexcept nogil
ctypedef int (*init_function)(void*, void*, void*, const uint8_t*, const uint8_t*) noexcept nogil
ctypedef int (*update_function)(void*, uint8_t*, int*, const uint8_t*, int) noexcept nogil
ctypedef int (*final_function)(void*, uint8_t*, int*) noexcept nogil
ctypedef int (*ctrl_function)(void*, int, int, void*) noexcept nogil

cdef new_function cipher_new
cdef free_function cipher_free
cdef algorithm_function aes_128_gcm
cdef algorithm_function aes_128_ecb
cdef init_function encrypt_init
cdef update_function encrypt_update
cdef final_function encrypt_final
cdef init_function decrypt_init
cdef update_function decrypt_update
cdef final_function decrypt_final
cdef ctrl_function cipher_ctrl


cdef inline void write_nonce(uint8_t* iv, const SrtpContext* context, uint32_t ssrc, uint64_t index) noexcept nogil:
    # The IV is two zero bytes, the SSRC, and the index (section 8.1). It is written in the units in which it
    # is read, because a processor would otherwise wait for the bytes to be combined.
    store64(iv, context.salt_high ^ (<uint64_t>ssrc << 16 | index >> 32))
    store32(iv + 8, context.salt_low ^ <uint32_t>index)


cdef int seal_gcm(SrtpContext* context, uint8_t* packet, const Plaintext* plaintext) noexcept nogil:
    """Encrypt as in RFC 7714 section 8: an authenticated header, encrypted prefix and payload, and the
    tag.
    """
    cdef uint8_t iv[12]
    cdef uint8_t* out = packet + plaintext.header_length
    cdef int n = 0
    write_nonce(iv, context, plaintext.ssrc, plaintext.index)
    if (encrypt_init(context.cipher, NULL, NULL, NULL, iv) != 1
            or encrypt_update(context.cipher, NULL, &n, packet, <int>plaintext.header_length) != 1):
        return -1
    if plaintext.prefix_length:
        if encrypt_update(context.cipher, out, &n, plaintext.prefix, <int>plaintext.prefix_length) != 1:
            return -1
        out += plaintext.prefix_length
    if encrypt_update(context.cipher, out, &n, plaintext.payload, <int>plaintext.payload_length) != 1:
        return -1
    out += plaintext.payload_length
    if encrypt_final(context.cipher, out, &n) != 1 or cipher_ctrl(context.cipher, GET_TAG, GCM_TAG_BYTES, out) != 1:
        return -1
    return <int>(out + GCM_TAG_BYTES - packet)


cdef int open_gcm(SrtpContext* context, ReplayWindow* window, uint8_t* packet, int length) noexcept nogil:
    """Decrypt in place, as the reverse of seal_gcm. A forged packet changes nothing but its own bytes."""
    cdef uint8_t iv[12]
    cdef int header = header_length(packet, length)
    cdef int end = length - GCM_TAG_BYTES, n = 0
    cdef int64_t index
    if header < 0 or header > end:
        return -1
    index = guess_index(window, load16(packet + 2))
    if not may_come(window, index):
        return -1
    write_nonce(iv, context, load32(packet + 8), <uint64_t>index)
    if (decrypt_init(context.cipher, NULL, NULL, NULL, iv) != 1
            or decrypt_update(context.cipher, NULL, &n, packet, header) != 1
            or decrypt_update(context.cipher, packet + header, &n, packet + header, end - header) != 1
            or cipher_ctrl(context.cipher, SET_TAG, GCM_TAG_BYTES, packet + end) != 1
            or decrypt_final(context.cipher, packet + end, &n) != 1):
        return -1
    came(window, index)
    return end


cdef inline int header_length(const uint8_t* packet, int length) noexcept nogil:
    """Return the length of an RTP packet's unencrypted part, or -1 if the packet is too short for it."""
    cdef int at = 12
    if length < 12:
        return -1
    at += 4 * (packet[0] & 0x0F)
    if packet[0] & 0x10:
        if at + 4 > length:
            return -1
        at += 4 + 4 * load16(packet + at + 2)
    return at if at <= length else -1


def _crypto_libraries():
    """Return the libraries that may export OpenSSL's functions: first the wheel's library, then the one that
    CPython's hashlib links to.

    On Windows, functions are looked up in a single library: the one in the folder of hashlib's module.
    """
    import _hashlib

    linked = next(Path(_hashlib.__file__).parent.glob("libcrypto*.dll"), _hashlib.__file__)
    return {"pylibsrtp-openssl": _binding.__file__, "hashlib-openssl": str(linked)}


def openssl_functions(names):
    """Return the first library that has all functions, and their addresses, or ("", []) if there is none."""
    for library_name, path in _crypto_libraries().items():
        try:
            library = ctypes.CDLL(path)
            return library_name, [ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in names]
        except (OSError, AttributeError):
            continue
    return "", []


def _find_openssl() -> str:
    """Bind the functions and return their library's name, or an empty string if no library has them."""
    global cipher_new, cipher_free, aes_128_gcm, aes_128_ecb, encrypt_init, encrypt_update, encrypt_final, cipher_ctrl
    global decrypt_init, decrypt_update, decrypt_final
    names = ("EVP_CIPHER_CTX_new", "EVP_CIPHER_CTX_free", "EVP_aes_128_gcm", "EVP_aes_128_ecb", "EVP_EncryptInit_ex",
             "EVP_EncryptUpdate", "EVP_EncryptFinal_ex", "EVP_CIPHER_CTX_ctrl", "EVP_DecryptInit_ex", "EVP_DecryptUpdate",
             "EVP_DecryptFinal_ex")
    library_name, found = openssl_functions(names)
    if found:
        cipher_new = <new_function><uintptr_t>found[0]
        cipher_free = <free_function><uintptr_t>found[1]
        aes_128_gcm = <algorithm_function><uintptr_t>found[2]
        aes_128_ecb = <algorithm_function><uintptr_t>found[3]
        encrypt_init = <init_function><uintptr_t>found[4]
        encrypt_update = <update_function><uintptr_t>found[5]
        encrypt_final = <final_function><uintptr_t>found[6]
        cipher_ctrl = <ctrl_function><uintptr_t>found[7]
        decrypt_init = <init_function><uintptr_t>found[8]
        decrypt_update = <update_function><uintptr_t>found[9]
        decrypt_final = <final_function><uintptr_t>found[10]
    return library_name


cdef bytes derive(bytes master_key, bytes master_salt, int label):
    """Compute one block of AES-CM key derivation (RFC 3711 section 4.3.3), at key derivation rate 0."""
    cdef uint8_t block[16]
    cdef uint8_t out[32]
    cdef const uint8_t* salt = master_salt
    cdef int n = 0, done
    cdef void* cipher
    memset(block, 0, 16)
    memcpy(block, salt, <size_t>len(master_salt))
    block[7] ^= <uint8_t>label
    cipher = cipher_new()
    if cipher == NULL:
        raise MemoryError
    done = (encrypt_init(cipher, aes_128_ecb(), NULL, master_key, NULL) == 1
            and encrypt_update(cipher, out, &n, block, 16) == 1)
    cipher_free(cipher)
    if not done or n != 16:
        raise ValueError("OpenSSL refused AES-128")
    return out[:16]


cdef int key_gcm(SrtpContext* context, bytes key, init_function init) except -1:
    """Create a context's cipher from a 16-byte master key and a 12-byte master salt."""
    cdef bytes session_key = derive(key[:16], key[16:28], 0)
    cdef bytes session_salt = derive(key[:16], key[16:28], 2)
    context.salt_high = load64(session_salt)
    context.salt_low = load32(<const uint8_t*>session_salt + 8)
    context.cipher = cipher_new()
    if context.cipher == NULL:
        raise MemoryError
    if init(context.cipher, aes_128_gcm(), NULL, session_key, NULL) != 1:
        raise ValueError("OpenSSL refused AES-128-GCM")
    return 0


# --- contexts ---


cdef object new_session(str profile, bytes key, bint outbound):
    policy = pylibsrtp.Policy(
        key=key,
        ssrc_type=pylibsrtp.Policy.SSRC_ANY_OUTBOUND if outbound else pylibsrtp.Policy.SSRC_ANY_INBOUND,
        srtp_profile=PROFILES[profile],
    )
    policy.window_size = WINDOW
    # A plain resend repeats a packet under the same index.
    policy.allow_repeat_tx = outbound
    return pylibsrtp.Session(policy)


cdef class SrtpKeys:
    """Both directions of a transport. `local` and `remote` are each a master key followed by its salt.

    The core uses the contexts until it reports that the transport is closed. Keep this object until then.
    """

    def __cinit__(self, str profile, bytes local, bytes remote, *, bint openssl=True):
        if profile not in PROFILES:
            raise ValueError(f"unknown SRTP profile: {profile}")
        self.inbound_session = new_session(profile, remote, False)
        self.outbound_session = new_session(profile, local, True)
        self.inbound.session = <void*><uintptr_t>int(ffi.cast("uintptr_t", self.inbound_session._srtp[0]))
        self.outbound.session = <void*><uintptr_t>int(ffi.cast("uintptr_t", self.outbound_session._srtp[0]))
        if profile == "AEAD_AES_128_GCM" and openssl and OPENSSL:
            key_gcm(&self.outbound, local, encrypt_init)
            key_gcm(&self.inbound, remote, decrypt_init)
        begin(&self.opened, 0)

    def __dealloc__(self):
        if self.inbound.cipher != NULL:
            cipher_free(self.inbound.cipher)
        if self.outbound.cipher != NULL:
            cipher_free(self.outbound.cipher)

    def seal(self, bytes header, bytes prefix, bytes payload, uint32_t ssrc, uint64_t index) -> bytes:
        """Return one outgoing packet of at most 1500 bytes; for the self-test, tools and tests."""
        cdef uint8_t packet[1500 + MAX_TRAILER]
        cdef Plaintext plaintext
        cdef const uint8_t* start = header
        cdef int length
        if len(header) + len(prefix) + len(payload) > 1500:
            raise ValueError("at most 1500 bytes")
        memcpy(packet, start, <size_t>len(header))
        plaintext.header_length = <size_t>len(header)
        plaintext.prefix = prefix
        plaintext.prefix_length = <size_t>len(prefix)
        plaintext.payload = payload
        plaintext.payload_length = <size_t>len(payload)
        plaintext.ssrc = ssrc
        plaintext.index = index
        length = seal(&self.outbound, packet, &plaintext)
        if length < 0:
            raise ValueError("the packet could not be sealed")
        return packet[:length]

    def unprotect(self, bytes packet) -> bytes | None:
        """Return a packet decrypted by libsrtp, or None if it is forged or repeated. For tools."""
        return self._unprotect(packet, NULL)

    def open(self, bytes packet) -> bytes | None:
        """Return a packet as decrypted by the core. All packets must have the same SSRC. For the self-test
        and tests.
        """
        return self._unprotect(packet, &self.opened)

    cdef _unprotect(self, bytes packet, ReplayWindow* window):
        cdef uint8_t plain[1500 + MAX_TRAILER]
        cdef const uint8_t* start = packet
        cdef int length = <int>len(packet)
        if len(packet) > 1500 + MAX_TRAILER:
            return None
        memcpy(plain, start, <size_t>length)
        length = unprotect(&self.inbound, window, plain, length)
        return plain[:length] if length >= 0 else None


def _openssl_agrees() -> bool:
    """Return whether OpenSSL encrypts known packets to the same bytes as libsrtp does."""
    key = bytes(range(28))
    header = bytes.fromhex("90e0fffe11223344cafebabebede00010aa00000")
    try:
        ours = SrtpKeys("AEAD_AES_128_GCM", key, key)
        theirs = pylibsrtp.Session(pylibsrtp.Policy(
            key=key, ssrc_type=pylibsrtp.Policy.SSRC_ANY_OUTBOUND, srtp_profile=PROFILES["AEAD_AES_128_GCM"]))
        # The sequence number wraps at the second and third packets, which tests the rollover counter.
        for index, length in ((0xFFFE, 0), (0xFFFF, 33), (0x10000, 1100)):
            head = header[:2] + (index & 0xFFFF).to_bytes(2, "big") + header[4:]
            payload = bytes(i & 0xFF for i in range(length))
            sealed = theirs.protect(head + payload)
            if ours.seal(head, payload[:2], payload[2:], 0xCAFEBABE, index) != sealed:
                return False
            if ours.open(sealed) != head + payload or ours.open(sealed) is not None:
                return False
    except (ValueError, MemoryError, pylibsrtp.Error):
        return False
    return True


# Whether OpenSSL handles AES-GCM: its functions exist and agree with libsrtp.
_LIBRARY = _find_openssl()
OPENSSL = bool(_LIBRARY)
OPENSSL = OPENSSL and _openssl_agrees()


# --- operator information ---

OPENSSL_INFO_CPU_SETTINGS = 1008
# Bits in OpenSSL's capability words for the instructions that AES-GCM needs: AES and carry-less
# multiplication. Any of these sets is enough. On x86-64 there is a set for single blocks and, in the second
# word, a set for vectors of blocks, together with the AVX-512 that OpenSSL also needs. OpenSSL checks the
# vector set first, independently of the other set.
AES_AND_MULTIPLICATION = {
    "OPENSSL_ia32cap": ((1 << 57 | 1 << 33, 0), (0, 1 << 42 | 1 << 41 | 1 << 31 | 1 << 30 | 1 << 17 | 1 << 16)),
    "OPENSSL_armcap": ((1 << 5 | 1 << 2,),),
}


def _processor() -> str:
    """Return the processor capabilities that OpenSSL detects, except those masked by the environment, or an
    empty string if unknown.
    """
    for path in _crypto_libraries().values():
        try:
            ask = ctypes.CDLL(path).OPENSSL_info
        except (OSError, AttributeError):
            continue
        ask.restype = ctypes.c_char_p
        return (ask(OPENSSL_INFO_CPU_SETTINGS) or b"").decode()
    return ""


def aes_by(processor: str) -> str:
    """Return "hardware" or "software" for AES-GCM, according to OpenSSL's capabilities, or else "unknown"."""
    name, _, features = processor.partition("=")
    if name not in AES_AND_MULTIPLICATION:
        return "unknown"
    words = [int(word, 16) for word in re.findall("0x([0-9a-f]+)", features.partition(" ")[0])]
    for wanted in AES_AND_MULTIPLICATION[name]:
        if all(word & bits == bits for word, bits in zip_longest(words, wanted, fillvalue=0)):
            return "hardware"
    return "software"


ENCRYPTION = {"sealed_by": _LIBRARY if OPENSSL else "libsrtp", "aes": aes_by(_processor())}
