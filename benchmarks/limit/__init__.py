"""The limit of the hardware: receive, decrypt once, encrypt for each receiver, send, and nothing else."""
