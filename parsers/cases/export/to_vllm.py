"""A test for vLLM's parser engine suite: a `Sample` of its replay harness, and the replay that fails.

The shape is that of vllm-project/vllm, tests/parser/engine: `Sample`, `make_mock_tokenizer`, `replay_streaming`,
`replay_with_text_holdback`, `collect_output` and `assert_parse_output` of replay_harness.py, a parser made as its chat
server makes one (`ParserManager`, vllm/parser, 0.33.0). Parsers on the engine and those written by hand are both
reached by that. Where the harness has no such chunking the test feeds the deltas itself, as test_replay.py does for the
last two. The end comes with the last delta where the server says it with that, else in a call of its own.
"""

from __future__ import annotations

from parsers.cases.export.same_code import SAME_JSON, same_order
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_literals import python, python_pretty
from parsers.cases.export.suite_subject import Subject, object_of
from parsers.cases.export.suite_target import Literals, SuiteTarget
from parsers.vocabulary.types import UsageError

_HARNESS = ("Sample", "_test_request", "assert_parse_output", "make_mock_tokenizer")
_BY_TOKENS = """deltas = replay_streaming(
        parser,
        SAMPLE.tokens,
        chunk_size=chunk_size,{ends}
        tools=SAMPLE.tools,
        prompt_token_ids=SAMPLE.prompt_token_ids,
    )"""
# The harness says with the last token that it is the last, whatever came with it.
_LATE = """deltas = replay_with_text_holdback(
        parser,
        SAMPLE.tokens,
        text_delay=text_delay,
        tools=SAMPLE.tools,
        prompt_token_ids=SAMPLE.prompt_token_ids,
    )"""
_FED = """prompt = SAMPLE.prompt_token_ids or []
    deltas = [
        parser.parse_delta(
            text, list(ids), request, prompt_token_ids=None if at else prompt, finished={ends}
        )
        for at, (text, ids) in enumerate(DELTAS)
    ]"""
_END = """
    deltas.append(parser.parse_delta("", [], request, finished=True))"""
_WHOLE = "output = parse_non_streaming(parser, SAMPLE, request)"
_COLLECTED = """

    output = collect_output(deltas)"""
_CALLS = """
    output.tool_calls = calls_of(deltas)"""
_CALLS_OF = '''
def calls_of(deltas):
    """The calls as a client has them, by index: the harness leaves out those that never get a name."""
    calls = {}
    for part in [part for delta in deltas if delta is not None for part in delta.tool_calls or []]:
        call = calls.setdefault(part.index, {"name": "", "arguments": ""})
        function = part.function
        if function is not None:
            call["name"] = call["name"] if function.name is None else function.name
            call["arguments"] += function.arguments or ""
    return [calls[index] for index in sorted(calls)]

'''
_IN_ORDER = """
    assert_order(steps_of(deltas), ORDER)"""
# A message joins all text of one kind: this keeps what came with what.
_STEPS_OF = '''
def steps_of(deltas):
    """What each delta says: its texts, and the names of the calls that it begins."""
    names, known, steps = {}, set(), []
    deltas = [delta for delta in deltas if delta is not None]
    for part in [part for delta in deltas for part in delta.tool_calls or []]:
        name = part.function and part.function.name
        names[part.index] = names.get(part.index, "") if name is None else name
    for delta in deltas:
        new = [index for index in dict.fromkeys(part.index for part in delta.tool_calls or []) if index not in known]
        known.update(new)
        called = [names[index] for index in new]
        steps.append({"reasoning": delta.reasoning or "", "text": delta.content or "", "call": called})
    return steps

'''
_IN_WORDS = """
    output.reasoning = {reasoning}.join((output.reasoning or "").split())  # white space does not count
    output.content = {content}.join((output.content or "").split())"""
_AS_VALUES = """
    for call, expected in zip(output.tool_calls, SAMPLE.expected_tool_calls):
        if "arguments" in expected:
            assert spelled(call["arguments"]) == spelled(json.dumps(expected["arguments"]))"""
_AS_TEXT = """
    assert [call["arguments"] for call in output.tool_calls] == ARGUMENTS"""
# Where of some calls a value is expected, which the harness compares.
_SOME_AS_TEXT = """
    texts = [call["arguments"] for call in output.tool_calls]
    assert [text for text, told in zip(texts, ARGUMENTS) if told is not None] == [
        told for told in ARGUMENTS if told is not None
    ]"""

_PLAIN = {"PARAMETERS": "", "ARGUMENT": "", "CONSTANTS": "", "PYTEST": ""}


def _literals(subject: Subject) -> Literals:
    tool, reasoning = subject.named("vllm", names_of("vllm"))
    tokens, kwargs = subject.tokens, subject.case.context.template_kwargs
    if not tokens.tokens:
        raise UsageError("the output is empty, and vLLM's harness replays tokens")
    calls, as_text = _calls(subject)
    values = any("arguments" in call for call in calls or ())
    how = _how(subject)
    imports = sorted({*_HARNESS, *how["IMPORTS"].split()})
    rows = "".join([f"        ({number}, {python(text)}),\n" for number, text in tokens.tokens])
    return {
        **how,
        "IMPORTS": "".join([f"    {name},\n" for name in imports]),
        "ID": python(subject.slug),
        "DESCRIPTION": python(subject.title),
        "SOURCE": python(subject.source),
        "VOCABULARY": python_pretty(dict(tokens.vocabulary), 4),
        "TOKENS": f"[\n{rows}    ]",
        "REASONING": python(subject.wanted("reasoning", ordered=True)),
        "CONTENT": python(subject.wanted("content", ordered=True)),
        "CALLS": python_pretty(calls, 4),
        "TOOLS": python_pretty(subject.tools or None, 4),
        "KWARGS": python_pretty(kwargs or None, 4),
        "PROMPT": python_pretty(list(tokens.prompt) or None, 4),
        "TOOL_PARSER": python(tool),
        "REASONING_PARSER": python(reasoning),
        "CHOICE": "" if subject.tool_choice == "auto" else _choice(subject),
        "EXACT": "" if not as_text else _SOME_AS_TEXT if None in as_text else _AS_TEXT,
        "VALUES": _AS_VALUES if values else "",
        "SAME_JSON": f"\n{SAME_JSON}\n" if values else "",
        "JSON": "import json\n\n" if values else "",
        "SOFT": _in_words(subject) if subject.soft else "",
        "CALLED": "" if subject.whole or calls is None else _CALLS,
        "CALLS_OF": "" if subject.whole or calls is None else _CALLS_OF,
        **_order(subject),
        "CONSTANTS": how["CONSTANTS"] + _constants(subject, as_text),
    }


def _order(subject: Subject) -> dict[str, str]:
    """How the order is compared, where there is one."""
    if not subject.order():
        return {"ORDER": "", "ORDER_OF": ""}
    return {"ORDER": _IN_ORDER, "ORDER_OF": f"{_STEPS_OF}\n{same_order(soft=subject.soft)}\n"}


def _in_words(subject: Subject) -> str:
    return _IN_WORDS.format(**{name: python(subject.sign(name)) for name in ("reasoning", "content")})


def _constants(subject: Subject, as_text: list[str | None]) -> str:
    """The arguments as text, and the parts in order."""
    found = f"ARGUMENTS = {python_pretty(as_text)}\n\n" if as_text else ""
    if not subject.order():
        return found
    rows = "".join([f"    ({python(kind)}, {python(text)}),\n" for kind, text in subject.order()])
    return f"{found}ORDER = [\n{rows}]\n\n"


def _calls(subject: Subject) -> tuple[list[dict[str, object]] | None, list[str | None]]:
    """The calls as the harness compares them, which is as values; and the texts of arguments, where some are text."""
    if subject.calls is None:
        return None, []
    rows: list[dict[str, object]] = []
    for call in subject.calls:
        value = object_of(call)
        rows.append({"name": call.name} if value is None else {"name": call.name, "arguments": value})
    return rows, [call.raw for call in subject.calls] if any(call.raw is not None for call in subject.calls) else []


def _how(subject: Subject) -> dict[str, str]:
    """How the tokens are fed: by the harness where it has such a chunking."""
    tokens, chunking = subject.tokens, subject.chunking
    if subject.whole:
        return {**_PLAIN, "IMPORTS": "parse_non_streaming", "REPLAY": _WHOLE}
    plain = subject.tool_choice == "auto"
    size = _size(tokens.sizes) if tokens.sizes else 0
    ends = _ends_with_the_last(subject)
    end = "" if ends else _END
    if plain and size:
        replay = _BY_TOKENS.format(ends="\n        finished_on_last=True," if ends else "")
        value = None if size == len(tokens.tokens) else size
        return _parametrised("chunk_size", value, "replay_streaming", replay + end)
    late = chunking.by == "token" and chunking.size == 1 and chunking.text_delay and not chunking.holdback_chars
    if plain and late and ends:
        return _parametrised("text_delay", chunking.text_delay, "replay_with_text_holdback", _LATE)
    deltas = "".join([f"    ({python(text)}, {list(ids)}),\n" for text, ids in tokens.deltas])
    constants = f"# The text of each delta, and the ids that come with it.\nDELTAS = [\n{deltas}]\n\n"
    fed = _FED.format(ends="at == len(DELTAS) - 1" if ends else "False")
    return {**_PLAIN, "IMPORTS": "collect_output", "REPLAY": fed + end + _COLLECTED, "CONSTANTS": constants}


def _ends_with_the_last(subject: Subject) -> bool:
    """Whether its server says with the last delta that it is the last (docs/engine-protocol.md): where it sends several
    tokens a delta the end token is one of them, and where the length was reached there is none."""
    deltas = subject.tokens.deltas
    return len(deltas) == 1 or len(deltas[-1][1]) > 1 or subject.case.context.finish_reason == "length"


def _size(sizes: tuple[int, ...]) -> int:
    """The number of tokens in every delta but for the last, which may have fewer; 0 where they differ."""
    first = sizes[0]
    return first if first and all(size == first for size in sizes[:-1]) and 0 < sizes[-1] <= first else 0


def _parametrised(name: str, value: int | None, helper: str, replay: str) -> dict[str, str]:
    return {
        "IMPORTS": f"collect_output {helper}",
        "PARAMETERS": f'@pytest.mark.parametrize("{name}", [{value}])\n',
        "ARGUMENT": name,
        "REPLAY": replay + _COLLECTED,
        "CONSTANTS": "",
        "PYTEST": "import pytest\n\n",
    }


def _choice(subject: Subject) -> str:
    """The request with another choice than its own."""
    given = f'{{**request.model_dump(exclude_unset=True), "tool_choice": {python_pretty(subject.tool_choice, 80)}}}'
    return f"\n    request = type(request)(**{given})"


VLLM = SuiteTarget(
    name="vllm",
    words="vLLM test",
    about="a Sample of its replay harness",
    path="tests/parser/engine/test_{slug}.py",
    template="to_vllm.txt",
    mimetype="text/x-python",
    comment="#",
    licence="Apache-2.0",
    literals=_literals,
    reads=lambda case, fmt: names_of("vllm").has(fmt),
    keeps_order=True,
)
