"""Sweeps of corpora on this machine: their files, the folder that keeps what is done, and who runs the shards."""
