"""The media-forwarding service's control plane: rooms, peers, signalling, ICE and DTLS.

Packets are forwarded by `svc._rtp`, which only `svc.sfu.media` calls.
"""
