"""svc: self-hosted community chat with voice, video and screen share.

Contains no code. The programs are in `chat` and `sfu`, and their commands in `cli`.
"""
