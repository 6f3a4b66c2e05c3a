"""Runs: a case is prepared, replayed and checked here, for the page, the API, the command line and the search alike.

prepare         from a case to what can be replayed: defaults of this environment, limits, tokens, places of errors
runner          one runner and one budget of memory; the same case is replayed once, whoever asks
held            posted runs by an address of their own, for a while
run_text        a run as JSON, whole or a part of it, in pieces
exports         a run as a file for other people's tools
format_example  the example of a format: replayed, and searched for chunkings that give another message
"""
