"""`svc rtp`: inspect RTP captures, and send them through the forwarding core."""
