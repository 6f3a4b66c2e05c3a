"""Whether an interpreter is too old for the worker: asked of it in words that any Python knows, once one did not start.

The worker says so itself where it can be read (3.8); an older Python knows of it only that its syntax is invalid.
"""

from __future__ import annotations

from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.children.program import Program

LEAST = (3, 9)
_SECONDS = 20.0
_ASKED = """
import sys
sys.stdin.readline()
sys.stdout.write('{"answer": {"version": [%d, %d]}}\\n' % (sys.version_info[0], sys.version_info[1]))
"""


def too_old(python: str | None, error: ChildError) -> str:
    """What is said of an interpreter that ended without an answer because it is too old; "" of all others."""
    if python is None or error.ending is not Ending.ENDED:
        return ""
    try:
        with Child(Program("version", command=(python, "-c", _ASKED))) as child:
            found = child.ask("hello", {}, seconds=_SECONDS).get("version")
    except ChildError:
        return ""
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(one, int) for one in found):
        return ""
    needed, there = [".".join(map(str, one)) for one in (LEAST, found)]
    return f"it needs Python {needed} or newer, and this is {there}" * (tuple(found) < LEAST)
