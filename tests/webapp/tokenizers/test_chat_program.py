"""The assistant's part of a conversation, cut out of what templates of several families write."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.webapp.tokenizers.templates import DEEPSEEK, HOSTILE, MISTRAL, QWEN, THINKING
from webapp.tokenizers import chat_program

ARGUMENTS = '{"city":"Zürich <b>","days":2}'
SPACED = '{"city": "Zürich <b>", "days": 2}'
ENDS = ["<|im_end|>", "<｜end▁of▁sentence｜>", "</s>"]


def asked(template: str, **more: Any) -> dict[str, Any]:
    calls = [{"name": "find", "arguments": ARGUMENTS}]
    return {"template": template, "tokens": {}, "kwargs": {}, "tools": [], "calls": calls, "ends": ENDS, **more}


def answers(template: str, **more: Any) -> list[str]:
    found = chat_program.assistant_parts(asked(template, **more))
    assert list(found) == ["object", "string"]
    return [one.get("text") or one["problem"] for one in found.values()]


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
    found = chat_program.assistant_parts(asked("{% for m in messages %}{{ m.role }}{% endfor %}"))
    assert [one["text"] for one in found.values()] == ["", ""]


def test_the_environment_is_that_of_transformers() -> None:
    template = (
        "{% generation %}{{ tools[0].function.name }}{% endgeneration %} {{ {'b': '<é>', 'a': 1} | tojson(indent=1) }} "
        "{{ strftime_now('%Y') }} {% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %} "
        "{{ mode }}"
    )
    tools = [{"type": "function", "function": {"name": "find"}}]
    text = chat_program.environment().from_string(template).render(tools=tools, mode="fast")
    year = datetime.now().year
    assert text in [f'find {{\n "b": "<é>",\n "a": 1\n}} {y} 1 fast' for y in (year, year + 1)]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in ("endless", "memory")])
def test_what_a_template_may_not_do_is_a_sentence(name: str) -> None:
    template, words = HOSTILE[name]
    first, second = answers(template)
    assert first.startswith(words)
    assert first == second


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_program, "MOST_TEXT", 10)
    assert answers(QWEN) == ["the template writes too much text."] * 2


def test_the_task_writes_both_spellings() -> None:
    def tell(_progress: object) -> None:
        raise AssertionError

    answer = chat_program.tasks()["write"](asked(QWEN), tell)
    assert answer == {"object": {"text": qwen(SPACED)}, "string": {"text": qwen(ARGUMENTS)}}
