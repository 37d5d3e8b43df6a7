"""The media-forwarding service's control plane: rooms, peers, signalling, ICE and DTLS.

Does not forward packets itself: `svc._rtp` does, and only `svc.sfu.media` calls it.
"""
