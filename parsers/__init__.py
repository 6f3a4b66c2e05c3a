"""Parsers of raw LLM output, and what can be said of them: the front door of the library.

=============  =====================================================================================================
make_parser    a parser to feed delta by delta: begin(context), feed(delta), finish(reason)
parse          an output, whole or in deltas -> Message: reasoning, content, tool calls
replay         the same with every step, the other chunkings and the checks -> CaseRun
find           a search for a chunking or a change under which the parser fails -> CaseFound, with the smallest case
load_case      a case file -> Case, which replay and find take too
dump_case      a Case -> the text of its file
get_format     the Format behind a parser's name: states, rows and terminals as data
format_names   the names that get_format knows, aliases left out
=============  =====================================================================================================

Wrong arguments raise UsageError, a wrong case CaseError (a UsageError with a JSON pointer), a wrong format
FormatError; no model output raises. Nothing here reads a file, a clock, a network or the environment. The rooms of
this package are listed in `docs/design.md`, in the order in which an output passes through them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parsers.cases.case import Case
    from parsers.cases.find import CaseFound
    from parsers.cases.run import CaseRun
    from parsers.formats.model import Format
    from parsers.vocabulary.trace import StreamParser
    from parsers.vocabulary.types import Message

__all__ = ["dump_case", "find", "format_names", "get_format", "load_case", "make_parser", "parse", "replay"]

# Each function imports what it needs when it is called: to import one module of this package costs that module only.


def make_parser(name: str, policy: Mapping[str, str] | None = None) -> StreamParser:
    """A new parser of a built-in format, by its name or an alias, under the given policies.

    >>> parser = make_parser("qwen")
    """
    from parsers.selection.registry import build, get_format

    return build(get_format(name), policy)


def parse(output: str | Sequence[str], parser: str = "auto", **request: Any) -> Message:
    """The message in an output. A sequence is fed delta by delta; any way of cutting gives the same message.

    `request`: see replay.

    >>> parse('<tool_call>{"name": "f", "arguments": {}}</tool_call>', "qwen").tool_calls[0].name
    'f'
    """
    from parsers.cases.engines import choose
    from parsers.cases.run import characters, replayer_of
    from parsers.replays.chunking import RECORDED, WHOLE

    case = _case(output, parser, request)
    pieces = case.pieces() or characters(case.text())
    replayer = replayer_of(case, choose(case), pieces)
    return replayer.outcome(RECORDED if case.input.deltas is not None else WHOLE).message


def replay(output: str | Sequence[str] | Case, parser: str = "auto", **request: Any) -> CaseRun:
    """A replay with every step, what other chunkings give, and the findings of all checks.

    A sequence is fed delta by delta, a text character by character; a case says itself what it is fed, and takes no
    further arguments. `request`: tools (a list of OpenAI tools), policy, tool_choice, reasoning_open, prompt_tail,
    finish_reason and the other keys of a case's `context`, `replay` (a list of chunkings), `contract` (a name, or a
    whole one), and `honest_only` (only chunkings that a server can send for certain).

    >>> [finding.check for finding in replay(['{"name": "f"', ', "arguments": {}}'], "json").findings]
    []
    """
    from parsers.cases.run import run_case

    return run_case(_case(output, parser, request))


def find(output: str | Sequence[str] | Case, parser: str = "auto", *, max_replays: int | None = None, **request: Any
         ) -> CaseFound:  # fmt: skip
    """Search for what breaks the parser on an output, and make it small. Arguments as for replay.

    `max_replays` bounds the work; the result says whether it was complete.

    >>> find("<think>Hm.</think>Hello", "qwen3").found.verdict.kind
    'all_hold'
    """
    from parsers.cases.find import CaseSearch
    from parsers.search.sweep import MAX_REPLAYS

    search = CaseSearch(_case(output, parser, request), max_replays=max_replays or MAX_REPLAYS)
    for _ in search.run():
        pass
    return search.result()


def load_case(source: str | bytes | Mapping[str, Any]) -> Case:
    """A case from the text of its file, or from decoded JSON. Raises CaseError with the place of what is wrong.

    >>> load_case('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}').text()
    'Hi'
    """
    from parsers.cases import io

    return io.loads(source) if isinstance(source, str | bytes) else io.load_case(dict(source))


def dump_case(case: Case) -> str:
    """The text of a case file, in its one written form.

    >>> load_case(dump_case(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}))).text()
    'Hi'
    """
    from parsers.cases.io import dumps

    return dumps(case)


def get_format(name: str) -> Format:
    """A built-in format by its name or an alias. Raises UsageError with the names that are like it.

    >>> get_format("hermes").name
    'qwen'
    """
    from parsers.selection.registry import get_format as found

    return found(name)


def format_names() -> list[str]:
    """The names of the built-in formats, sorted.

    >>> "qwen" in format_names()
    True
    """
    from parsers.formats.model import builtin_formats

    return sorted(builtin_formats())


def _case(output: str | Sequence[str] | Case, parser: str, request: dict[str, Any]) -> Case:
    """A case of these arguments; keys that the parser takes go there, `tools` and their like to the top."""
    from parsers.cases.case import Case, CaseError

    if isinstance(output, Case):
        if request or parser != "auto":
            raise CaseError("a case says everything itself: change the case, or give its output")
        return output
    data: dict[str, Any] = {"schema": 1, "parser": {"name": parser}}
    data["parser"] |= {key: request.pop(key) for key in ("policy", "options", "engine") if key in request}
    given = ("tools", "replay", "decode", "checks", "compare", "contract")
    data |= {key: request.pop(key) for key in given if key in request}
    if request.pop("honest_only", False):
        data["compare"] = {**data.get("compare", {}), "cuts": "honest"}
    if isinstance(output, str):
        return load_case({**data, "input": {"text": output}, "context": request})
    deltas = [{"text": text} for text in output]
    return load_case({"replay": [{"by": "recorded"}], **data, "input": {"deltas": deltas}, "context": request})
