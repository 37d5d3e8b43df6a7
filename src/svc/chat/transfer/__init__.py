"""A community as a file that other programs can read, and a server made of one."""
