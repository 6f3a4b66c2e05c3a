"""Which lines of a parser one step ran, and what they did to its variables.

Only the files of the parser's own package are looked at. A line stands with the variables that it changed: locals, and
attributes of `self`. Everything is bounded: what comes back is for a reader, not for a program.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable
from dis import findlinestarts
from reprlib import Repr
from types import CodeType, FrameType
from typing import Any

MOST_EVENTS = 1_500
MOST_FUNCTIONS = 60
MOST_SOURCE = 400  # lines of one function
MOST_CHANGES = 20  # variables of one line
MOST_SHOWN = 160  # characters of a value
MOST_SOUGHT = 100_000  # characters of a value that is looked through
_PASSED_OVER = {"pydantic", "pydantic_core", "typing_extensions", "builtins", "abc", "typing", "enum", "json"}
_CHANNELS = {"content", "reasoning", "reasoning_content", "reasoning_text", "normal_text", "tool_calls"}
_PLAIN = (str, bytes, int, float, bool, type(None))

_repr = Repr()
_repr.maxlevel, _repr.maxdict, _repr.maxlist, _repr.maxtuple, _repr.maxset = 3, 12, 12, 12, 12
_repr.maxstring, _repr.maxother = MOST_SHOWN, MOST_SHOWN


class Roots:
    """The files whose lines are looked at: of the packages that some objects' classes come from."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._folders: dict[str, str] = {}
        self._known: dict[str, str] = {}
        for module in {base.__module__ for one in objects for base in type(one).__mro__}:
            top = module.partition(".")[0]
            if top in _PASSED_OVER or top in getattr(sys, "stdlib_module_names", ()):
                continue
            package = sys.modules.get(top)
            for folder in getattr(package, "__path__", None) or ():
                self._folders[os.path.join(folder, "")] = os.path.dirname(folder)
            file = getattr(package, "__file__", None)
            if file and not hasattr(package, "__path__"):
                self._folders[file] = os.path.dirname(file)

    def name_of(self, file: str) -> str:
        """The file as it is shown, from its package on; empty for one of somebody else."""
        if file not in self._known:
            found = [above for folder, above in self._folders.items() if file.startswith(folder)]
            self._known[file] = os.path.relpath(file, found[0]).replace(os.sep, "/") if found else ""
        return self._known[file]


class LineTrace:
    """Inside `with`: every line that runs in a parser's files. `sought`: a text that was sent, to say from where;
    `fed`: what the step was fed."""

    def __init__(self, roots: Roots, sought: str = "", fed: str = "") -> None:
        self._roots = roots
        self._sought = sought
        self._passed_on = sought == fed  # then every helper may return it, and only a message says that it is sent
        self._codes: dict[CodeType, int | None] = {}
        self._functions: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._frames: dict[FrameType, _Frame] = {}
        self._left_out = 0
        # How well a returned value fits what is sought, and the line that returned it.
        self._best: tuple[int, dict[str, Any] | None] = (0, None)
        self._before: Any = None

    def __enter__(self) -> LineTrace:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_raised: object) -> None:
        sys.settrace(self._before)
        self._frames.clear()

    def told(self) -> dict[str, Any]:
        """All of it, as the protocol has it. Of very many lines the last that is told is the one that sent."""
        sender = self._best[1]
        if sender is not None and not any(event is sender for event in self._events):
            self._events[-1] = sender
        at = next((at for at, event in enumerate(self._events) if event is sender), None)
        return {"functions": self._functions, "events": self._events, "left_out": self._left_out, "sent_from": at}

    def _called(self, frame: FrameType, _event: str, _value: Any) -> Any:
        function = self._number(frame.f_code)
        if function is None:
            return None
        self._frames[frame] = _Frame(function, len(self._frames), frame)
        return self._happened

    def _number(self, code: CodeType) -> int | None:
        """The function of a code; None for one that is not looked at."""
        if code not in self._codes:
            file = self._roots.name_of(code.co_filename)
            if not file or len(self._functions) >= MOST_FUNCTIONS:
                self._codes[code] = None
            else:
                self._codes[code] = len(self._functions)
                self._functions.append(_function(code, file))
        return self._codes[code]

    def _happened(self, frame: FrameType, event: str, value: Any) -> Any:
        known = self._frames.get(frame)
        if known is None:
            return None
        changed = known.changes(frame)
        if known.last is not None:
            known.last["changed"] += changed[: MOST_CHANGES - len(known.last["changed"])]
        if event == "line":
            known.last = self._new(known, frame)
        elif event == "exception":
            known.last = known.last or self._new(known, frame)
            known.last["raised"] = _raised(value)
        elif event == "return":
            if known.last is not None and "raised" not in known.last:
                known.last["returned"] = spelled(value)
                self._compare(value, known.last, frame.f_code.co_filename)
            self._frames.pop(frame)
        return self._happened

    def _new(self, known: _Frame, frame: FrameType) -> dict[str, Any]:
        made: dict[str, Any] = {"function": known.function, "line": frame.f_lineno, "depth": known.depth, "changed": []}
        if len(self._events) < MOST_EVENTS:
            self._events.append(made)
        else:
            self._left_out += 1
        return made

    def _compare(self, value: Any, event: dict[str, Any], file: str) -> None:
        """Remember the line whose value fits best what is sought: the first to return it, alone or inside another."""
        if not self._sought or not self._events or value is None:
            return
        text = value if isinstance(value, str) else _text(value)
        fits = 2 if value == self._sought or repr(self._sought) in text else int(self._sought in text)
        if fits and self._passed_on:
            fits = 3 if value == self._sought else 2 if _is_message(value) and _file_of(value) != file else 1
        if fits > self._best[0]:
            self._best = fits, event


class LineSteps:
    """Inside `with`: whether a line of a file ran. One object is for one step."""

    def __init__(self, roots: Roots, file: str, line: int) -> None:
        self.ran = False
        self._roots = roots
        self._file = file
        self._line = line
        self._codes: dict[CodeType, bool] = {}
        self._before: Any = None

    def __enter__(self) -> LineSteps:
        self.ran = False
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_raised: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, _event: str, _value: Any) -> Any:
        code = frame.f_code
        if code not in self._codes:
            has = self._roots.name_of(code.co_filename) == self._file
            self._codes[code] = has and any(line == self._line for _, line in findlinestarts(code))
        return self._happened if self._codes[code] and not self.ran else None

    def _happened(self, frame: FrameType, event: str, _value: Any) -> Any:
        if event == "line" and frame.f_lineno == self._line:
            self.ran = True
        return None if self.ran else self._happened


class _Frame:
    """A call that runs: its variables as they were after the line before."""

    def __init__(self, function: int, depth: int, frame: FrameType) -> None:
        self.function = function
        self.depth = depth
        self.last: dict[str, Any] | None = None
        self._before: dict[str, tuple[Any, str]] = {}
        self._before = {name: (value, spelled(value)) for name, value in _values(frame)}

    def changes(self, frame: FrameType) -> list[list[Any]]:
        """What changed since it was asked last: name, before (None: it was not there), after."""
        found = []
        for name, value in _values(frame):
            known = self._before.get(name)
            if known is not None and known[0] is value and isinstance(value, _PLAIN):
                continue
            shown = spelled(value)
            if known is None or known[1] != shown:
                found.append([name, None if known is None else known[1], shown])
            self._before[name] = value, shown
        return found


def _values(frame: FrameType) -> list[tuple[str, Any]]:
    """Locals of a frame, and attributes of its `self`."""
    found = [(name, value) for name, value in list(frame.f_locals.items()) if name != "self"]
    own = getattr(frame.f_locals.get("self"), "__dict__", None)
    return found + [("self." + name, value) for name, value in list((own or {}).items())]


def spelled(value: Any) -> str:
    """A value in at most MOST_SHOWN characters, its middle left out where it is longer."""
    try:
        if isinstance(value, str) and len(value) > MOST_SHOWN:  # its two ends tell more than its repr cut
            half = MOST_SHOWN // 2
            return repr(value[:half])[:-1] + " … " + repr(value[-half:])[1:] + " (" + str(len(value)) + ")"
        text = _repr.repr(value)
    except Exception:
        text = "<" + type(value).__name__ + ">"
    return text if len(text) <= 2 * MOST_SHOWN else text[:MOST_SHOWN] + " … " + text[-MOST_SHOWN:]


def _is_message(value: Any) -> bool:
    """Whether a value says itself in which channel a text is sent."""
    known = value.keys() if isinstance(value, dict) else dir(value)
    return not isinstance(value, _PLAIN) and not _CHANNELS.isdisjoint(known)


def _file_of(value: Any) -> str | None:
    """The file of a value's class: what that returns while it makes the value was not its idea."""
    return getattr(sys.modules.get(type(value).__module__), "__file__", None)


def _text(value: Any) -> str:
    try:
        return repr(value)[:MOST_SOUGHT]
    except Exception:
        return ""


def _raised(value: Any) -> str:
    kind, error = value[0], value[1]
    return (str(kind.__name__) + ": " + " ".join(str(error).split()))[: 2 * MOST_SHOWN]


def _function(code: CodeType, file: str) -> dict[str, Any]:
    """A function with its source; without it where the file cannot be read."""
    try:
        source, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        source, first = [], code.co_firstlineno
    lines = [line.rstrip("\n") for line in source[:MOST_SOURCE]]
    return {"name": getattr(code, "co_qualname", code.co_name), "file": file, "first": first, "source": lines}
