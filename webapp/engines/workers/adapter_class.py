"""A parser class of somebody's own, by the methods that it has.

=========================================  ============================================================================
methods                                    how it is called
=========================================  ============================================================================
begin, feed, finish                        begin(request), then feed(text, ids) for each delta and finish(reason)
parse_streaming_increment                  as SGLang's detectors: (text, tools); finish(tools) at the end where it is
parse_delta                                as vLLM's parsers of reasoning and calls: text and ids of the delta, the
                                           request, the ids of the prompt, and whether it is the last one
extract_tool_calls_streaming               as vLLM's parsers of calls: the text and ids before and after, those of the
                                           delta, and the request
parse, detect_and_parse,                   besides, of each of these: the second path, for whole outputs
extract_tool_calls
=========================================  ============================================================================

Those as vLLM's are made as it makes them (0.33.0: parser/abstract_parser.py), with a tokenizer and the tools; older
releases gave the tokenizer alone, which is what a class gets that has no parameter `tools` and no second one that has
to be given. Where vLLM or SGLang are installed and the class is one of theirs, their own adapter runs it.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

DELTA = ("reasoning", "content", "tool_calls")
TOOLS = "tools"
_KNOWN = {
    "delta": (*DELTA, "role"),  # the key that chat completions begin with says nothing here
    "call": ("index", "id", "type", "function"),
    "function": ("name", "arguments"),
}


Make = Callable[..., Any]
WORKER: dict[str, Callable[..., Any]] = {}  # its `adapter_of`, which it puts here


def adapter(own: str) -> Any:
    """The adapter of a class, given as module:Class. Raises TypeError for one of no known shape, and ClassError where
    there is none."""
    module, colon, name = own.partition(":")
    if not colon:
        raise TypeError("a class is given as module:Class, not " + own)
    return adapter_for(class_of(module, name))


def adapter_for(kind: Any, make: Make | None = None) -> Any:
    """The adapter of a class; `make` makes its parsers, where calling the class is not how. Raises as `adapter`."""
    theirs = {base.__module__.partition(".")[0] for base in kind.__mro__[1:]} & {"vllm", "sglang"}
    return WORKER["adapter_of"](theirs.pop(), kind) if theirs else Class(kind, make)


def class_of(module: str, name: str) -> Any:
    """The class of a module. Raises ClassError where there is none, and what importing the module raises."""
    try:
        holder = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            raise
        raise ClassError(missing_module(error.name), "") from error
    found = getattr(holder, name, None)
    if not isinstance(found, type):
        there = [one for one, kind in vars(holder).items() if isinstance(kind, type) and kind.__module__ == module]
        words = "the module {} has no class {}; it has {}".format(module, name, ", ".join(there[:10]) or "none")
        raise ClassError(words, os.path.basename(getattr(holder, "__file__", None) or ""))
    return found


def missing_module(name: str) -> str:
    """What is said of a module that is not found, with what is to be done."""
    package, _, last = name.rpartition(".")
    found = getattr(sys.modules.get(package), "__file__", None) if package else None
    if found is not None:
        return f"the package {package} ({os.path.dirname(found)}) has no module {last}"
    top = name.partition(".")[0]
    words = "this interpreter does not find it, and the current folder is not looked in; give the folder that has"
    return (
        f"No module named {name!r}: {words} {top}/ or {top}.py ('src' in many projects) with engines add --path FOLDER"
    )


class ClassError(LookupError):
    """There is no such class. It is told with the file in which it was looked for."""

    def __init__(self, words: str, place: str) -> None:
        super().__init__(words)
        self.told_place = place


class Class:
    """One parser."""

    def __init__(self, kind: Any, make: Make | None = None) -> None:
        self._kind = kind
        self._make: Make = make or kind
        fitting = [shape for shape in SHAPES if all(hasattr(kind, name) for name in shape.needs)]
        if not fitting:
            raise ShapeError(missing(kind, [shape.needs for shape in SHAPES]), kind)
        self._shape = fitting[0]
        self._whole = next((name for name in ("parse", self._shape.whole_by) if hasattr(kind, name)), None)
        calls = {name: many for name, many in self._shape.calls.items() if make is None or name != "__init__"}
        check_calls(kind, {**calls, **({} if self._whole is None else {self._whole: 2})})

    def hello(self) -> dict[str, Any]:
        """What it is."""
        told = {"name": "class", "version": str(getattr(self._kind, "version", ""))}
        parsers = [{"name": self._name, "kind": "tool"}]
        server = dict(getattr(self._kind, "server", {}))
        return {**told, "parsers": parsers, "wants": self._shape.wants, "whole": self._whole is not None,
                "contract": str(getattr(self._kind, "contract", "openai")), "server": server}  # fmt: skip

    def replay(self, asked: Mapping[str, Any]) -> Any:
        """A new parser for one output. Raises LookupError for the name of another one."""
        name = asked.get("parser", self._name)
        if name != self._name:
            raise LookupError("there is no parser " + str(name))
        return self._shape(self._kind, self._make, asked)

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> Any:
        """The message by `parse(request, text)`, or by the method that its shape has for whole outputs."""
        made = self.replay(asked)
        own = self._whole == self._shape.whole_by
        said = made.whole(text, ids) if own else made.parser.parse(asked["request"], text)
        return delta_of(said, self._kind, self._whole or "")

    @property
    def _name(self) -> str:
        return str(getattr(self._kind, "parser_name", self._kind.__name__))


class Own:
    """begin, feed, finish."""

    needs, wants, whole_by = ("begin", "feed", "finish"), "text", "parse"
    calls = {"__init__": 0, "begin": 1, "feed": 2, "finish": 1}  # noqa: RUF012 - how many arguments each is given

    def __init__(self, kind: Any, make: Make, asked: Mapping[str, Any]) -> None:
        self._kind, self._request = kind, asked["request"]
        self.parser = make()
        self.parser.begin(self._request)

    def watched(self) -> list[Any]:
        """Whose attributes are looked at."""
        return [self.parser]

    def feed(self, text: str, ids: list[int]) -> Any:
        """A delta."""
        return delta_of(self.parser.feed(text, ids), self._kind, "feed")

    def finish(self, reason: str | None) -> Any:
        """The end."""
        return delta_of(self.parser.finish(reason), self._kind, "finish")

    def whole(self, text: str, ids: list[int]) -> Any:
        """A whole output."""
        return self.parser.parse(self._request, text)


class Detector:
    """As SGLang's."""

    needs, wants, whole_by = ("parse_streaming_increment",), "text", "detect_and_parse"
    calls = {"__init__": 0, "parse_streaming_increment": 2}  # noqa: RUF012 - as above

    def __init__(self, kind: Any, make: Make, asked: Mapping[str, Any]) -> None:
        self._kind = kind
        self.parser = make()
        self._tools = [_namespace(tool) for tool in asked["request"].get("tools") or ()]

    def watched(self) -> list[Any]:
        """Whose attributes are looked at."""
        return [self.parser]

    def feed(self, text: str, ids: list[int]) -> Any:
        """A delta."""
        said = self.parser.parse_streaming_increment(text, self._tools)
        return self._delta(said, self.needs[0])

    def finish(self, reason: str | None) -> Any:
        """The end."""
        return self._delta(self.parser.finish(self._tools), "finish") if hasattr(self.parser, "finish") else None

    def _delta(self, said: Any, name: str) -> Any:
        _check_has(said, _OF_DETECTOR, self._kind, name)
        return delta_of(_of_detector(said), self._kind, name)

    def whole(self, text: str, ids: list[int]) -> Any:
        """A whole output; where the server asks first whether there is a call, that is asked."""
        if hasattr(self.parser, "has_tool_call") and not self.parser.has_tool_call(text):
            return {"content": text or None}
        said = self.parser.detect_and_parse(text, self._tools)
        _check_has(said, _OF_DETECTOR, self._kind, self.whole_by)
        return _message(_field(said, "normal_text"), [_of_item(call) for call in _field(said, "calls") or ()])


class _OfTokens:
    """What the two shapes of vLLM's have in common: a tokenizer, and a request with attributes."""

    wants = "ids"
    needs: Sequence[str]

    def __init__(self, kind: Any, make: Make, asked: Mapping[str, Any]) -> None:
        self._kind = kind
        self._table = asked["table"]()
        self._request = _namespace(asked["request"])
        self.parser = made_with(make, self._table, getattr(self._request, "tools", None) or None)

    def watched(self) -> list[Any]:
        """Whose attributes are looked at."""
        return [self.parser]

    def _delta(self, said: Any) -> Any:
        if said is None:
            return None
        if not isinstance(said, dict):
            _check_has(said, DELTA, self._kind, self.needs[0])
        return delta_of(_of_delta(said), self._kind, self.needs[0])


class Unified(_OfTokens):
    """As vLLM's parsers of reasoning and calls."""

    needs, whole_by = ("parse_delta",), "parse"
    calls = {"__init__": 1, "parse_delta": (4, "finished")}  # noqa: RUF012 - as above, and one by its name

    def __init__(self, kind: Any, make: Make, asked: Mapping[str, Any]) -> None:
        super().__init__(kind, make, asked)
        self._prompt = self._table.fed(asked.get("prompt_ids") or ())
        self._ended = False

    def feed(self, text: str, ids: list[int]) -> Any:
        """A delta."""
        return self._said(text, ids, finished=False)

    def last(self, text: str, ids: list[int], reason: str | None) -> Any:
        """The last delta, where its server says with it that it is the last."""
        self._ended = True
        return self._said(text, ids, finished=True)

    def finish(self, reason: str | None) -> Any:
        """The end, which such a parser is told with a delta without text where it was not told before."""
        return None if self._ended else self._said("", [], finished=True)

    def _said(self, text: str, ids: list[int], *, finished: bool) -> Any:
        said = self.parser.parse_delta(text, self._table.fed(ids), self._request, self._prompt, finished=finished)
        return self._delta(said)

    def whole(self, text: str, ids: list[int]) -> Any:
        """A whole output, of which it gives reasoning, content and functions."""
        more = {"enable_auto_tools": True, "model_output_token_ids": self._table.fed(ids)}
        taken = {name: value for name, value in more.items() if takes(self.parser.parse, 2, name)}
        said = self.parser.parse(text, self._request, **taken)
        if isinstance(said, dict):
            return said
        if not isinstance(said, tuple) or len(said) != len(DELTA):
            raise ShapeError(f"parse returned {_a(said)}, not a tuple of {', '.join(DELTA)}", self._kind, "parse")
        reasoning, content, functions = said
        return {"reasoning": reasoning or None, **_message(content, [_function(one) for one in functions or ()])}


class Legacy(_OfTokens):
    """As vLLM's parsers of calls that are written by hand."""

    needs, whole_by = ("extract_tool_calls_streaming",), "extract_tool_calls"
    calls = {"__init__": 1, "extract_tool_calls_streaming": 7}  # noqa: RUF012 - as above

    def __init__(self, kind: Any, make: Make, asked: Mapping[str, Any]) -> None:
        super().__init__(kind, make, asked)
        self._text = ""
        self._ids: list[int] = []

    def feed(self, text: str, ids: list[int]) -> Any:
        """A delta."""
        before, known, new = self._text, self._ids, self._table.fed(ids)
        self._text, self._ids = before + text, known + new
        said = self.parser.extract_tool_calls_streaming(before, self._text, text, known, self._ids, new, self._request)
        return self._delta(said)

    def finish(self, reason: str | None) -> Any:
        """The end, which such a parser is not told of but by a delta without text."""
        return self.feed("", [])

    def whole(self, text: str, ids: list[int]) -> Any:
        """A whole output."""
        said = self.parser.extract_tool_calls(text, self._request)
        _check_has(said, ("tool_calls", "content"), self._kind, self.whole_by)
        calls, content = _field(said, "tool_calls") or (), _field(said, "content")
        if not isinstance(calls, (list, tuple)):
            return {"tool_calls": calls}  # which is told to be no delta
        called = _field(said, "tools_called")
        if not (called or (called is None and calls)):
            return _message(content or text, [])
        return _message(content, [_function(_field(call, "function")) for call in calls])


SHAPES: tuple[Any, ...] = (Own, Detector, Unified, Legacy)
_OF_DETECTOR = ("normal_text", "calls")  # what its methods return has


def _namespace(value: Any) -> Any:
    """Objects of JSON with attributes, but for schemas."""
    if not isinstance(value, dict):
        return [_namespace(one) for one in value] if isinstance(value, list) else value
    return SimpleNamespace(**{name: one if name == "parameters" else _namespace(one) for name, one in value.items()})


def _message(content: str | None, functions: Sequence[Any]) -> dict[str, Any]:
    calls = [{"index": at, "function": function} for at, function in enumerate(functions)]
    return {"content": content or None, "tool_calls": calls}


def _of_detector(said: Any) -> dict[str, Any]:
    calls = [{"index": _field(one, "tool_index"), "function": _of_item(one)} for one in _field(said, "calls") or ()]
    return {"content": _field(said, "normal_text") or None, "tool_calls": calls}


def _of_item(call: Any) -> dict[str, Any]:
    return {"name": _field(call, "name") or None, "arguments": _field(call, "parameters")}


def _of_delta(said: Any) -> Any:
    if isinstance(said, dict):
        return said
    calls = [
        {"index": call.index, "id": getattr(call, "id", None), "function": _function(getattr(call, "function", None))}
        for call in getattr(said, "tool_calls", None) or ()
    ]
    return {"content": getattr(said, "content", None), "reasoning": getattr(said, "reasoning", None),
            "tool_calls": calls}  # fmt: skip


def _function(function: Any) -> dict[str, Any]:
    return {name: _field(function, name) for name in ("name", "arguments")}


def _field(said: Any, name: str) -> Any:
    """Of an object or of a dict: libraries return the one, and people who write a class the other."""
    return said.get(name) if isinstance(said, dict) else getattr(said, name, None)


# Whether a class can be called, and what it returned is a delta: else where in its own file it is not.


class ShapeError(TypeError):
    """A class, or what one of its methods returned, is not as docs/engine-protocol.md has it."""

    def __init__(self, words: str, kind: type, name: str = "") -> None:
        super().__init__(words)
        self.told_place = place_of(kind, name)


def place_of(kind: type, name: str = "") -> str:
    """Where a method of a class, or the class, is written; "" where its source cannot be found."""
    found = getattr(kind, name, None) if name else kind
    try:
        code = getattr(inspect.unwrap(found), "__code__", None) if callable(found) and name else None
        file = inspect.getsourcefile(kind) if code is None else code.co_filename
        line = inspect.getsourcelines(kind)[1] if code is None else code.co_firstlineno
    except (OSError, TypeError, ValueError):
        return ""
    return "{}, line {} of {}".format(name or kind.__name__, line, os.path.basename(file or ""))


def missing(kind: type, shapes: Sequence[Sequence[str]]) -> str:
    """What a class lacks to be of one of these shapes, of the one that it is nearest to."""
    nearest = max(shapes, key=lambda names: sum(hasattr(kind, name) for name in names) / len(names))
    there = [name for name in nearest if hasattr(kind, name)]
    if not there:
        known = "; ".join([", ".join(names) for names in shapes])
        return kind.__name__ + " has the methods of no known shape, which are: " + known
    lacking = [name for name in nearest if name not in there]
    return "{} has {}, but no {}".format(kind.__name__, " and ".join(there), " and no ".join(lacking))


def check_calls(kind: type, calls: Mapping[str, Any]) -> None:
    """Raise ShapeError where a method cannot be called with so many arguments besides the instance, and with those that
    it is given by name. What is made with a tokenizer may take the tools, too."""
    for name, call in calls.items():
        many, *named = call if isinstance(call, tuple) else (call,)
        found, more = getattr(kind, name), _is_bound_later(kind, name)
        if name == "__init__":
            by_place, by_name = given_to(kind, None, None) if many else ([], {})
            found, many, named, more = kind, max(many, len(by_place)), [*by_name], False
        wrong = _wrong_call_of(found, many + more, named)
        if wrong:
            given = " and ".join([f"{many} arguments", *named])
            raise ShapeError(f"{kind.__name__}.{name} is called with {given}: {wrong}", kind, name)


def takes(found: Callable[..., Any], many: int, *named: str) -> bool:
    """Whether something can be called with so many arguments, and with these by name."""
    return not _wrong_call_of(found, many, named)


def made_with(make: Make, tokenizer: Any, tools: Any) -> Any:
    """A parser, with as much of these as what makes it takes."""
    by_place, by_name = given_to(make, tokenizer, tools)
    return make(*by_place, **by_name)


def given_to(make: Make, tokenizer: Any, tools: Any) -> tuple[list[Any], dict[str, Any]]:
    """What makes a parser is given these, by place and by name: the tools where a parameter is called so, or is the
    second one and has to be given, as vLLM gives them. One with a default and another name is about something else."""
    try:
        known = [*inspect.signature(make).parameters.values()]
    except ValueError:  # written in C, which tells nothing
        return [tokenizer, tools], {}
    places = [one for one in known if one.kind <= one.VAR_POSITIONAL]
    places += [one for one in places if one.kind == one.VAR_POSITIONAL]  # which takes the second one, too
    if places[1:] and (places[1].name == TOOLS or places[1].default is inspect.Parameter.empty):
        return [tokenizer, tools], {}
    named = any(one.name == TOOLS and one.kind != one.VAR_KEYWORD for one in known[len(places[:1]) :])
    named = named and TOOLS not in getattr(make, "keywords", ())  # a partial that has them keeps its own
    return [tokenizer][: len(places)], {TOOLS: tools} if named else {}


def _wrong_call_of(found: Callable[..., Any], many: int, named: Sequence[str]) -> str:
    try:
        inspect.signature(found).bind(*[None] * many, **dict.fromkeys(named))
    except ValueError:  # written in C, which tells nothing
        return ""
    except TypeError as error:
        return str(error)
    return ""


def _is_bound_later(kind: type, name: str) -> bool:
    return not isinstance(inspect.getattr_static(kind, name), (staticmethod, classmethod))


def _check_has(said: Any, names: Sequence[str], kind: type, method: str) -> None:
    """Raise ShapeError where a method returned neither an object nor a dict with any of these."""
    if not any(name in said if isinstance(said, dict) else hasattr(said, name) for name in names):
        words = "{} returned {}, which has neither {}"
        raise ShapeError(words.format(method, _a(said), " nor ".join(names)), kind, method)


def delta_of(said: Any, kind: type, name: str) -> Any:
    """What a method returned, as it is. Raises ShapeError where that is no delta."""
    wrong = "" if said is None else _wrong_delta(said)
    if wrong:
        raise ShapeError(f"{name} returned {wrong}", kind, name)
    return said


def _wrong_delta(said: Any) -> str:
    if not isinstance(said, dict):
        return "{}; a delta is None or a dict with {}".format(_a(said), ", ".join(DELTA))
    calls = said.get("tool_calls")
    if calls is not None and not isinstance(calls, (list, tuple)):
        return f"{_a(calls)} as tool_calls, not a list of calls"
    texts = _wrong_keys(said, "delta") or _wrong_texts(said, ("reasoning", "content"), "")
    return texts or next(filter(None, map(_wrong_call, calls or ())), "")


def _wrong_call(call: Any) -> str:
    if not isinstance(call, dict):
        return f"{_a(call)} as a call, not a dict with index, id and function"
    index, function = call.get("index"), call.get("function", {})
    if not isinstance(index, int) or isinstance(index, bool):
        return "a call without its number as index" if index is None else f"{_a(index)} as the index of a call"
    if not isinstance(function, dict):
        return f"{_a(function)} as the function of a call, not a dict with name and arguments"
    keys = _wrong_keys(call, "call") or _wrong_keys(function, "function")
    return (
        keys or _wrong_texts(call, ("id",), " of a call") or _wrong_texts(function, ("name", "arguments"), " of a call")
    )


def _wrong_keys(said: Mapping[Any, Any], what: str) -> str:
    unknown = [key for key in said if key not in _KNOWN[what]]
    known = ", ".join(_KNOWN[what])
    return f"the key {unknown[0]!r}, which a {what} has not: its keys are {known}" if unknown else ""


def _wrong_texts(said: Mapping[Any, Any], names: Sequence[str], of: str) -> str:
    for name in names:
        if not isinstance(said.get(name), (str, type(None))):
            text = "JSON text" if name == "arguments" else "a text"
            return f"{_a(said[name])} as the {name}{of}, not {text}"
    return ""


def _a(value: Any) -> str:
    """A value by its type: 'a dict'."""
    name = type(value).__name__
    return ("an " if name[:1] in "aeiou" else "a ") + name
