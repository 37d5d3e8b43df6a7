"""Replicates a community's commits to other machines over NATS JetStream. docs/cluster.md."""
