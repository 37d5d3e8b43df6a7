"""What the hardware allows: receive, open once, seal for each receiver, send; and nothing else."""
