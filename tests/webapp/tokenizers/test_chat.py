"""Templates in a process of their own: whatever they do ends in one sentence, and nothing is left running."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from parsers.replays.replayer import Rendering
from parsers.vocabulary.types import Context, Tool, ToolCall
from tests.webapp.tokenizers.templates import HOSTILE, QWEN
from webapp.tokenizers import chat
from webapp.tokenizers.chat import MOST_RENDERED, question, renderings, rerender_of
from webapp.tokenizers.chat_program import MOST_TEMPLATE

CALLS = [ToolCall("x", "find", '{"city":"Zürich"}')]


def written(template: str, seconds: float = 20) -> tuple[Rendering, ...]:
    return renderings(question(template, CALLS, Context(), ["<|im_end|>"]), seconds)


def misbehaving(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let the program of templates do something else."""
    program = folder / "other_program.py"
    body = "".join([f"    {line}\n" for line in lines])
    program.write_text(f"import os, time\ndef write(asked, tell):\n{body}def tasks():\n    return {{'write': write}}\n")
    monkeypatch.setattr(chat, "PROGRAM", replace(chat.PROGRAM, name=str(program)))


def test_both_spellings_come_back_where_they_differ() -> None:
    first, second = written(QWEN)
    assert (first.spelling, second.spelling) == ("object", "string")
    assert '{"city": "Zürich"}' in first.text
    assert '{"city":"Zürich"}' in second.text


def test_a_template_writes_the_special_tokens_of_its_tokenizer() -> None:
    asked = question("{{ bos_token }}{{ eos_token }}", CALLS, Context(), [], {"bos_token": "<s>"})
    assert (asked["tokens"]["bos_token"], asked["tokens"]["eos_token"]) == ("<s>", "")


def test_spellings_that_make_no_difference_come_back_once() -> None:
    [one] = written("{% for m in messages %}{% for t in m.tool_calls %}{{ t.function.name }}{% endfor %}{% endfor %}")
    assert one == Rendering("object", "find")


@pytest.mark.parametrize("name", ["memory", "huge range", "a file"])
def test_a_hostile_template_is_one_sentence(name: str) -> None:
    template, words = HOSTILE[name]
    [one] = written(template)
    assert (one.text, one.problem[: len(words)]) == ("", words)


def test_a_template_that_never_ends_is_ended() -> None:
    [one] = written(HOSTILE["endless"][0], 0.3)
    assert one.problem == "the template does not come to an end."


@pytest.mark.replays
def test_a_process_that_only_waits_is_ended_at_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    misbehaving(tmp_path, monkeypatch, "time.sleep(60)")
    [one] = written(QWEN, 0.3)
    assert one.problem == "the template does not come to an end."


@pytest.mark.parametrize("line", ["os._exit(3)", "raise MemoryError", "raise ValueError"])
def test_a_process_that_ends_without_an_answer_is_a_sentence(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehaving(tmp_path, monkeypatch, line)
    assert written(QWEN)[0].problem.startswith("the template ended the process that ran it")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGXCPU])
def test_a_process_that_the_system_ends_for_its_time_did_not_come_to_an_end(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehaving(tmp_path, monkeypatch, f"os.kill(os.getpid(), {int(number)})", "time.sleep(60)")
    assert written(QWEN)[0].problem == "the template does not come to an end."


def test_the_process_gets_no_secret_of_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    misbehaving(
        tmp_path,
        monkeypatch,
        "words = {'text': ' '.join(os.environ)}",
        "return {'object': words, 'string': words}",
    )
    monkeypatch.setenv("HF_TOKEN", "secret")
    [one] = written(QWEN)
    assert "PATH" in one.text
    assert "HF_TOKEN" not in one.text


def test_a_template_that_is_too_long_is_not_run() -> None:
    [one] = written("x" * (MOST_TEMPLATE + 1))
    assert one.problem == "the template has more than 500,000 characters."


class Counting:
    """Writes the same whatever it is asked."""

    def __init__(self, answer: tuple[Rendering, ...]) -> None:
        self.answer, self.asked = answer, 0

    def __call__(self, _asked: object) -> tuple[Rendering, ...]:
        self.asked += 1
        return self.answer


def test_the_same_calls_are_written_once_and_a_search_has_an_end() -> None:
    write = Counting((Rendering("object", "x"),))
    rerender = rerender_of("t", write)
    for number in range(MOST_RENDERED * 2):
        assert rerender([ToolCall(None, "f", str(number // 2))], Context(), ()) == write.answer
    assert rerender([ToolCall(None, "g", "{}")], Context(), ()) == ()
    assert write.asked == MOST_RENDERED


def test_a_template_that_did_not_end_is_not_run_again() -> None:
    write = Counting(chat.TOO_LATE)
    rerender = rerender_of("t", write)
    assert rerender(CALLS, Context(), ()) == rerender([ToolCall(None, "g", "{}")], Context(), ())
    assert write.asked == 1


def test_the_request_is_what_a_server_would_give_the_template() -> None:
    context = Context(tools=(Tool("find", {"type": "object"}), Tool("bare")), template_kwargs={"mode": 1, "no name": 2})
    given = question("t", CALLS, context, ["end"])
    assert given["kwargs"] == {"mode": 1}
    assert [tool["function"]["parameters"] for tool in given["tools"]] == [
        {"type": "object"},
        {"type": "object", "properties": {}},
    ]
    assert given["tokens"]["bos_token"] == ""
