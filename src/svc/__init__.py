"""svc: self-hosted community chat with voice, video and screen share.

Holds no code: the programs are in `chat` and `sfu`, their commands in `cli`.
"""
