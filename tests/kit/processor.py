"""How OpenSSL is made to take this processor for a lesser one. For the environment of a child: it looks once.

Only the instructions that AES-GCM is made of are taken away: on x86-64 AES and carry-less multiplication,
for single blocks and for vectors of them; on ARM all but the vectors, as a Raspberry Pi 4 has it.
"""

WITHOUT_AES = {
    "OPENSSL_ia32cap": "~0x200000200000000:~0x60000000000:~0x0:~0x0:~0x0",
    "OPENSSL_armcap": "0x1",
}
