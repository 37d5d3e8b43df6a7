"""Makes OpenSSL treat this processor as a less capable one, by the environment of a child process.

Only the instructions of AES-GCM are hidden: on x86-64 AES and carry-less multiplication, scalar and vector;
on ARM everything except the vectors, as on a Raspberry Pi 4.
"""

WITHOUT_AES = {
    "OPENSSL_ia32cap": "~0x200000200000000:~0x60000000000:~0x0:~0x0:~0x0",
    "OPENSSL_armcap": "0x1",
}
