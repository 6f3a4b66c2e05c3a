"""Sweeps of corpora, on this machine or on a cluster: their files, the folder of what is done, who runs the shards."""
