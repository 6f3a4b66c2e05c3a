"""A well-formed output gives back the message it was written from, under every chunking and in both marker modes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Dialect, Spoken
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import Chunking
from parsers.selection.registry import get_format
from parsers.vocabulary.types import Context, Message, Tool
from tests.amount import every, examples
from tests.parsers.properties.invariants import Run, as_ids, as_text, check
from tests.parsers.properties.schemas import schema_of
from tests.parsers.properties.strategies import followed_closers, messages

pytestmark = pytest.mark.replays

dialects = pytest.mark.parametrize("dialect", every(4, DIALECTS.values()), ids=every(4, DIALECTS))


def test_every_format_with_calls_is_written_in_some_way() -> None:
    written = {dialect.parser for dialect in DIALECTS.values()}
    with_calls = {
        fmt.name
        for fmt in builtin_formats().values()
        if any("CallStart" in row.emit for state in fmt.states.values() for row in state.rows)
    }
    assert with_calls == written


def tools_for(said: Spoken) -> tuple[Tool, ...]:
    """One tool for each name, with a schema that its last call fits; none where two calls of a name differ."""
    declared = {call.name: schema_of(call.arguments) for call in said.calls}
    fits = all(declared[call.name] == schema_of(call.arguments) for call in said.calls)
    return tuple([Tool(name, schema) for name, schema in declared.items()]) if fits else ()


def run_of(dialect: Dialect, said: Spoken, *, ids: bool = False, typed: bool = True) -> Run:
    fmt = get_format(dialect.parser)
    context = Context(tools=tools_for(said) if typed else ())
    text = dialect.write(said)
    if not ids:
        return Run(fmt, as_text(text), dialect.policy, context)
    markers = {marker: 1000 + index for index, marker in enumerate(fmt.tokens)}
    special = {marker: token.special for marker, token in fmt.tokens.items()}
    return Run(fmt, as_ids(text, markers, special), dialect.policy, context, "ids", markers)


def assert_same(dialect: Dialect, said: Spoken, message: Message, *, as_strings: bool) -> None:
    assert (message.content or "") == dialect.content(said)
    assert (message.reasoning or "") == (said.reasoning or "").rstrip()
    assert [call.name for call in message.tool_calls] == [call.name for call in said.calls]
    for call, wanted in zip(message.tool_calls, said.calls, strict=True):
        assert call.complete
        expected = {key: value_of(value, said) for key, value in wanted.arguments.items()}
        assert json.loads(call.arguments) == (expected if as_strings else wanted.arguments)


def value_of(value: object, said: Spoken) -> object:
    return value if isinstance(value, str) else said.dumped(value)


@dialects
@examples(2)
@given(data=st.data())
def test_what_was_written_is_read_back_untyped_by_ids_cut_and_closed_too(dialect: Dialect, data: st.DataObject) -> None:
    said, share = data.draw(messages(dialect)), data.draw(st.floats(0, 1))
    run = run_of(dialect, said)
    message = check(run)
    assert_same(dialect, said, message, as_strings=dialect.values == "tags" and not run.context.tools)
    untyped = run_of(dialect, said, typed=False)
    without_schema = untyped.message(Chunking(by="char"))
    require_untouched(dialect, said, without_schema)
    require_same_by_ids(dialect, said, message)
    if not any(closer in str(call.arguments) for call in said.calls for closer in followed_closers(run.fmt)):
        require_prefix(cut_at(untyped, share), without_schema)
    require_closed(cut_at(run, share, truncated_call="close"))


def cut_at(run: Run, share: float, **policy: str) -> Run:
    """The first part of the output, under a policy more."""
    return replace(run, pieces=run.pieces[: round(share * len(run.pieces))], policy={**run.policy, **policy})


def require_untouched(dialect: Dialect, said: Spoken, message: Message) -> None:
    """JSON arguments pass through byte for byte without a schema."""
    if dialect.values != "json":
        assert_same(dialect, said, message, as_strings=dialect.values == "tags")
    else:
        text = dialect.write(said)
        assert all(call.arguments in text for call in message.tool_calls)


def require_same_by_ids(dialect: Dialect, said: Spoken, message: Message) -> None:
    """Marker ids give the same message as their texts; a special marker inside a string ends it when it is an id."""
    found = check(run_of(dialect, said, ids=True))
    arguments = [json.dumps(call.arguments, ensure_ascii=False) for call in said.calls]
    if not any(marker in text for text in arguments for marker in get_format(dialect.parser).tokens):
        assert found == message, dialect.write(said)


def require_prefix(cut: Run, whole: Message) -> None:
    """A cut output streams a prefix of the arguments."""
    for call, full in zip(check(cut).tool_calls, whole.tool_calls, strict=False):
        if cut.fmt.name == "mistral" and not call.complete and call.arguments == "{}":
            assert full.name.startswith(call.name)  # after the marker a name alone counts as a call
            continue
        assert call.name == full.name
        assert full.arguments.startswith(call.arguments)
        assert not call.complete or call.arguments == full.arguments


def require_closed(cut: Run) -> None:
    """A call that is closed where it was cut is one JSON object."""
    for call in check(cut).tool_calls:
        assert isinstance(json.loads(call.arguments), dict), call
