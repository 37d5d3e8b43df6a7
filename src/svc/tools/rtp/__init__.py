"""Looking at captures of RTP, and sending them through the forwarding core: `svc rtp`."""
