"""The assistant's part of a conversation, cut out of what templates of several families write."""

from __future__ import annotations

import io
import json
from datetime import datetime
from typing import Any

import pytest

from tests.webapp.chat.templates import DEEPSEEK, HOSTILE, MISTRAL, QWEN, THINKING
from webapp.chat import child

ARGUMENTS = '{"city":"Zürich <b>","days":2}'
SPACED = '{"city": "Zürich <b>", "days": 2}'
ENDS = ["<|im_end|>", "<｜end▁of▁sentence｜>", "</s>"]


def asked(template: str, **more: Any) -> dict[str, Any]:
    calls = [{"name": "find", "arguments": ARGUMENTS}]
    return {"template": template, "tokens": {}, "kwargs": {}, "tools": [], "calls": calls, "ends": ENDS, **more}


def answers(template: str, **more: Any) -> list[str]:
    found = child.answer(asked(template, **more))
    assert [one["spelling"] for one in found] == ["object", "string"]
    return [one.get("text") or one["problem"] for one in found]


def qwen(arguments: str) -> str:
    return f'\n<tool_call>\n{{"name": "find", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize("template", [QWEN, THINKING], ids=["header", "header that opens reasoning"])
def test_header_and_end_of_the_turn_are_no_part_of_it(template: str) -> None:
    assert answers(template) == [qwen(SPACED), qwen(ARGUMENTS)]


def test_a_template_that_takes_arguments_as_text_says_why_it_takes_no_object() -> None:
    first, second = answers(DEEPSEEK)
    assert first == 'the template fails with TypeError (can only concatenate str (not "dict") to str).'
    assert second == (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>"
        + ARGUMENTS
        + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )


def test_a_template_that_wants_the_tools_to_answer_is_given_their_answers() -> None:
    first, _ = answers(MISTRAL)
    assert first == '[TOOL_CALLS][{"name": "find", "arguments": ' + SPACED + ', "id": "call00000"}]'


def test_a_turn_without_a_known_end_ends_where_the_tools_answer() -> None:
    first, _ = answers(MISTRAL, ends=[])
    assert first.endswith("}]</s>[TOOL_RESULTS]")


def test_a_template_that_writes_calls_only_beside_text_is_given_an_empty_one() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% if m.content is not none %}<A>{{ m.content }}"
        "{% for t in m.tool_calls %}[{{ t.function.name }}]{% endfor %}{% endif %}{% else %}{{ m.content }}{% endif %}"
        "{% endfor %}"
    )
    assert answers(template)[0] == "[find]"


def test_markers_that_begin_alike_are_not_cut_in_two() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% if m.tool_calls %}<|call|>"
        "{{ m.tool_calls[0].function.name }}"
        "{% else %}<|say|>{{ m.content }}{% endif %}{% else %}{{ m.content }}{% endif %}{% endfor %}"
    )
    assert answers(template)[0] == "<|call|>find"


def test_a_template_without_calls_writes_nothing() -> None:
    found = child.answer(asked("{% for m in messages %}{{ m.role }}{% endfor %}"))
    assert [one["text"] for one in found] == ["", ""]


def test_the_environment_is_that_of_transformers() -> None:
    template = (
        "{% generation %}{{ tools[0].function.name }}{% endgeneration %} {{ {'b': '<é>', 'a': 1} | tojson(indent=1) }} "
        "{{ strftime_now('%Y') }} {% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %} "
        "{{ mode }}"
    )
    tools = [{"type": "function", "function": {"name": "find"}}]
    text = child.environment().from_string(template).render(tools=tools, mode="fast")
    year = datetime.now().year
    assert text in [f'find {{\n "b": "<é>",\n "a": 1\n}} {y} 1 fast' for y in (year, year + 1)]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in ("endless", "memory")])
def test_what_a_template_may_not_do_is_a_sentence(name: str) -> None:
    template, words = HOSTILE[name]
    first, second = answers(template)
    assert first.startswith(words)
    assert first == second


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MOST_TEXT", 10)
    assert answers(QWEN) == ["the template writes too much text."] * 2


def test_the_program_reads_one_object_and_writes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bytes:
        buffer = io.BytesIO(json.dumps(asked(QWEN)).encode())

    class Out:
        buffer = io.BytesIO()

    monkeypatch.setattr(child, "limit", lambda: None)
    monkeypatch.setattr("sys.stdin", Bytes)
    monkeypatch.setattr("sys.stdout", Out)
    child.main()
    assert json.loads(Out.buffer.getvalue())[0] == {"spelling": "object", "text": qwen(SPACED)}
