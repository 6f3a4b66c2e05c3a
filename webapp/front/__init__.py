"""Before the application: what a stranger sent is parsed, replayed and drawn in children that run the same application.

================  ===================================================================================================
front.py          which requests are for a child, and what becomes of what it answers
engine_waits.py   waits for engines, outside of any child
forwarding.py     a request as a message, an answer relayed as it comes, and what is said where there is none
replay_program    the program of those children
warm.py           what is done once, before the first of them is forked
================  ===================================================================================================
"""
