"""Runs: a case is prepared, replayed and checked here, for the page, the API, the command line and the search alike.

prepare   from a case to what can be replayed: defaults of this environment, limits, tokens, errors with their place
runner    one runner and one budget of memory; the same case is replayed once, whoever asks
held      posted runs by an address of their own, for a while
cache     what is kept, least recently used first out
run_text  a run as JSON, whole or a part of it, in pieces
exports   a run as a file for other people's tools
"""
