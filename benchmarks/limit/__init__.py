"""Measures the hardware's limit: receive, decrypt once, encrypt for each receiver, send, and nothing else."""
