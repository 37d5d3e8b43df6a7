"""Replicates a community's commits to other machines over NATS JetStream. See docs/cluster.md."""
