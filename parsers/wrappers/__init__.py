"""Interfaces of other projects over the machine: vllm.rs's wrapper, and candle-vllm's stateless parser.

fallback      the wrapper, a StreamParser: it holds what looks like a call until it is judged, falls back, or lets it go
table         its states and rows as a format that can be drawn, and the markers that open and close what is held
held          what is held while nothing is decided, and deltas cut at the markers
chain         the decision: the streamed calls, other parsers, recovery, repair
attempt       events of one reading: its calls, moved, cut, or turned back into text
repair        arguments closed by appending, parameters read again
gate          what leaves: text under the content policies, calls with their verdict
incremental   parse_incremental(buffer): one of three outcomes for the whole output so far
"""
