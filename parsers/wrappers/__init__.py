"""The wrapper around a parser that vllm.rs describes: hold what looks like a call, judge it, fall back, or let it go.

wrapper     the StreamParser: what is text, what is held, when it is decided
table       its states and rows, as a format that can be drawn
markers     which terminals of a format open and close what is held
chain       the decision: the streamed calls, other parsers, recovery, repair
attempt     events of one reading: its calls, moved, cut, or turned back into text
envelope    whether the payload of an end marker may still be unfinished
repair      arguments closed by appending, parameters read again
verdict     whether a call is valid, strict and lenient
options     what a case may set
"""
