"""Makes OpenSSL use fewer of this processor's instructions, through environment variables for a child
process.

Only the instructions for AES-GCM are hidden. On x86-64 these are AES and carry-less multiplication, both
scalar and vector. On ARM, all optional instructions except the vector instructions are hidden, as on a
Raspberry Pi 4.
"""

WITHOUT_AES = {
    "OPENSSL_ia32cap": "~0x200000200000000:~0x60000000000:~0x0:~0x0:~0x0",
    "OPENSSL_armcap": "0x1",
}
