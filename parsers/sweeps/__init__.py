"""Sweeps: many outputs of one corpus through one parser, and what is wrong with them by its signature.

A plan says how a corpus is read (`plan`); a shard is a part of it, and what came of a shard is a summary (`shard`,
`summary`). Summaries are merged in any order, and a report is made of the last one (`report`). What the files are, who
reads them and which processes run shards is no matter of this room.
"""
