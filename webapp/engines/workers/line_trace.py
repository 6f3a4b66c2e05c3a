"""Which lines of a parser one step ran, and what they did to its variables.

Only the files of the parser's own package are looked at. A line stands with the variables that it changed: locals, and
attributes of `self`. Everything is bounded: what comes back is for a reader, not for a program.

A line costs some twenty microseconds while it is told: lists and mappings are spelled again after each, for only that
shows that they changed. Lines past MOST_EVENTS are counted, and where something is sought its texts are followed
through them, for any may send it; nothing of these is spelled but what was put into a variable.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dis import findlinestarts
from reprlib import Repr
from types import CodeType, FrameType, MemberDescriptorType
from typing import Any, NamedTuple

MOST_EVENTS = 1_500
MOST_FUNCTIONS = 60
MOST_SOURCE = 400  # lines of one function
MOST_CHANGES = 20  # variables of one line
MOST_SHOWN = 160  # characters of a value
MOST_CLASSES = 1_000  # whose slots are known
_PASSED_OVER = {"pydantic", "pydantic_core", "typing_extensions", "builtins", "abc", "typing", "enum", "json"}
_OWN = [os.path.dirname(globals()[name]) for name in ("__file__",) if name in globals()]  # not where all is one file
_INSTALLED = [os.path.realpath(one) for one in (sys.prefix, sys.base_prefix, *_OWN)]
_PLAIN = (str, bytes, int, float, bool, type(None))

_repr = Repr()
_repr.maxlevel, _repr.maxdict, _repr.maxlist, _repr.maxtuple, _repr.maxset = 3, 12, 12, 12, 12
_repr.maxstring, _repr.maxother = MOST_SHOWN, MOST_SHOWN


class Roots:
    """The files whose lines are looked at: of the packages that some objects' classes come from, and whatever lies
    beside these that is not installed: who writes a parser writes its helpers."""

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
        for above in {*self._folders.values()}:
            if not _is_installed(os.path.join(above, "")):
                self._folders[os.path.join(above, "")] = above

    def name_of(self, file: str) -> str:
        """The file as it is shown, from its package on; empty for one of somebody else."""
        if file not in self._known:
            folders = {folder: above for folder, above in self._folders.items() if file.startswith(folder)}
            own = [above for folder, above in folders.items() if folder != os.path.join(above, "")]
            found = own or ([] if _is_installed(file) else [*folders.values()])
            self._known[file] = os.path.relpath(file, found[0]).replace(os.sep, "/") if found else ""
        return self._known[file]


def _is_installed(path: str) -> bool:
    """Whether it came with the interpreter, was installed, or is ours."""
    parts = {"site-packages", "dist-packages"}.intersection(path.split(os.sep))
    return bool(parts) or any(os.path.realpath(path).startswith(os.path.join(one, "")) for one in _INSTALLED)


class LineTrace:
    """Inside `with`: every line that runs in a parser's files. `sent_by` hears of all values, and says which line sent
    what is sought; None: nothing is."""

    def __init__(self, roots: Roots, sent_by: Any = None) -> None:
        self._roots = roots
        self._sent_by = None if sent_by is None or sent_by.idle else sent_by
        self._codes: dict[CodeType, int | None] = {}
        self._functions: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._frames: dict[FrameType, _Frame] = {}
        self._many = 0
        self._before: Any = None

    def __enter__(self) -> LineTrace:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_raised: object) -> None:
        sys.settrace(self._before)
        self._frames.clear()

    def told(self) -> dict[str, Any]:
        """All of it, as the protocol has it. Of very many lines the last that are told are those that sent."""
        sender, put = (None, None) if self._sent_by is None else (self._sent_by.sender, self._sent_by.put)
        events = self._with({one.number: one.event for one in (put, sender) if one is not None})
        at, put_at = [None if one is None else _index(events, one.event) for one in (sender, put)]
        left_out = self._many - len(events)
        lines = {"functions": self._functions, "events": events, "left_out": left_out}
        return {**lines, "sent_from": at, "put_at": None if at == put_at else put_at}

    def _with(self, named: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
        """The first events, and in the place of the last of them those that are named and came later."""
        if max(named, default=0) < MOST_EVENTS:
            return self._events
        first = MOST_EVENTS - len(named)
        late = [named[number] for number in sorted(named) if number >= first]
        return self._events[: MOST_EVENTS - len(late)] + late

    def _called(self, frame: FrameType, _event: str, _value: Any) -> Any:
        function = self._number(frame.f_code)
        if function is None:
            return None
        if self._sent_by is None and self._many >= MOST_EVENTS:
            return self._counted
        caller = self._frames.get(frame.f_back) if frame.f_back is not None else None
        place = None if caller is None else caller.last
        self._frames[frame] = _Frame(function, len(self._frames), frame, self._many, self._sent_by, place)
        return self._happened

    def _counted(self, _frame: FrameType, event: str, _value: Any) -> Any:
        """A line of a call of which nothing is told."""
        self._many += event == "line"
        return self._counted

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
        if known.is_told or self._sent_by is not None:
            known.look(frame)
        if event == "line":
            known.last = self._new(known, frame)
        elif event == "exception":
            known.last = known.last or self._new(known, frame)
            known.last.event["raised"] = _raised(value)
        elif event == "return":
            if known.last is not None and "raised" not in known.last.event:
                known.last.event["returned"] = spelled(value)
                if self._sent_by is not None:
                    self._sent_by.returned(known.last, value)
            self._frames.pop(frame)
        return self._happened

    def _new(self, known: _Frame, frame: FrameType) -> _Place:
        made: dict[str, Any] = {"function": known.function, "line": frame.f_lineno, "depth": known.depth, "changed": []}
        if self._many < MOST_EVENTS:
            self._events.append(made)
        self._many += 1
        return _Place(self._many - 1, made, known)


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


class _Place(NamedTuple):
    """An event, with its number among all that there were, and the call in which it happened."""

    number: int
    event: dict[str, Any]
    frame: _Frame


class _Frame:
    """A call that runs: its variables as they were after the line before. `number` is that of its first event, `kind`
    the class that it is a method of, None for a function."""

    def __init__(
        self, function: int, depth: int, frame: FrameType, number: int, sent_by: Any, caller: _Place | None
    ) -> None:
        self.function = function
        self.depth = depth
        self.number = number
        self.last: _Place | None = None
        self.kind = _class_of(frame)
        self._sent_by = sent_by
        is_told = self.is_told
        self._before = {name: (value, spelled(value) if is_told else None) for name, value in _values(frame)}
        if sent_by is not None:
            for name, (value, _) in self._before.items():
                sent_by.had(self, name, value, caller)

    @property
    def is_told(self) -> bool:
        """Whether its last line is among those that are told, whatever was sent."""
        return (self.number if self.last is None else self.last.number) < MOST_EVENTS

    def look(self, frame: FrameType) -> None:
        """Note what the last line changed: name, before (None: it was not there), after. Of one that is told only if
        it sent, that is what was put into a variable."""
        is_told = self.is_told
        changed = [] if self.last is None else self.last.event["changed"]
        for name, value in _values(frame):
            known = self._before.get(name)
            is_same = known is not None and known[0] is value
            if is_same and isinstance(value, _PLAIN):
                continue
            if self._sent_by is not None and self.last is not None:
                self._sent_by.changed(self.last, name, value)
            if is_same and not is_told:
                continue
            before = None if known is None else spelled(known[0]) if known[1] is None else known[1]
            shown = spelled(value)
            if before != shown and len(changed) < MOST_CHANGES:
                changed.append([name, before, shown])
            self._before[name] = value, shown

    def makes(self, value: Any) -> bool:
        """Whether it is a method of a value's own class: what that returns, and what stands in its variables, while it
        makes the value was not its idea."""
        return self.kind is not None and isinstance(value, self.kind)


def _class_of(frame: FrameType) -> type | None:
    """The class that a running method is one of, by its first argument as that is called everywhere."""
    code = frame.f_code
    name = code.co_varnames[0] if code.co_argcount else ""
    first = frame.f_locals.get(name) if name in ("self", "cls") else None
    return None if first is None else first if isinstance(first, type) else type(first)


def _index(events: list[dict[str, Any]], sought: dict[str, Any]) -> int:
    return next(at for at, event in enumerate(events) if event is sought)


def _values(frame: FrameType) -> list[tuple[str, Any]]:
    """Locals of a frame, and attributes of its `self`."""
    names = frame.f_locals
    found = [(name, value) for name, value in list(names.items()) if name != "self"]
    own = fields_of(names.get("self"))
    return found + [("self." + name, value) for name, value in list(own.items())]


_slots_of: dict[int, tuple[type, list[tuple[str, MemberDescriptorType]]]] = {}  # by ids: a hash may be code of theirs


def _slots(kind: type) -> list[tuple[str, MemberDescriptorType]]:
    """The slots of a class and its bases."""
    if id(kind) not in _slots_of:
        if len(_slots_of) >= MOST_CLASSES:
            _slots_of.clear()
        found = [(name, member) for base in kind.__mro__ for name, member in vars(base).items() if name[:2] != "__"]
        _slots_of[id(kind)] = kind, [(name, one) for name, one in found if isinstance(one, MemberDescriptorType)]
    return _slots_of[id(kind)][1]


def fields_of(value: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots first, without running any of its code."""
    found: dict[str, Any] = {}
    for name, member in _slots(type(value)):
        with suppress(AttributeError):  # nothing stands in it yet
            found[name] = member.__get__(value)
    own = getattr(value, "__dict__", None)
    return {**found, **own} if isinstance(own, dict) else found


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
