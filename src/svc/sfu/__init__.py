"""The media-forwarding service's control plane: rooms, peers, signalling, ICE and DTLS.

Forwards no packet itself: `svc._rtp` does, reached through `svc.sfu.media` only.
"""
