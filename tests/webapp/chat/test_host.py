"""Templates in a process of their own: whatever they do ends in one sentence, and nothing is left running."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from parsers.replays.replayer import Rendering
from parsers.vocabulary.types import Context, Tool, ToolCall
from tests.webapp.chat.templates import HOSTILE, QWEN
from webapp.chat import Host, rerender_of
from webapp.chat.child import MOST_TEMPLATE
from webapp.chat.template import MOST_RENDERED, asked

CALLS = [ToolCall("x", "find", '{"city":"Zürich"}')]


def renderings(template: str, host: Host | None = None) -> tuple[Rendering, ...]:
    return (host or Host()).renderings(asked(template, CALLS, Context(), ["<|im_end|>"]))


def test_both_spellings_come_back_where_they_differ() -> None:
    first, second = renderings(QWEN)
    assert (first.spelling, second.spelling) == ("object", "string")
    assert '{"city": "Zürich"}' in first.text
    assert '{"city":"Zürich"}' in second.text


def test_spellings_that_make_no_difference_come_back_once() -> None:
    [one] = renderings(
        "{% for m in messages %}{% for t in m.tool_calls %}{{ t.function.name }}{% endfor %}{% endfor %}"
    )
    assert one == Rendering("object", "find")


@pytest.mark.parametrize("name", ["memory", "huge range", "a file"])
def test_a_hostile_template_is_one_sentence(name: str) -> None:
    template, words = HOSTILE[name]
    [one] = renderings(template)
    assert (one.text, one.problem[: len(words)]) == ("", words)


def test_a_template_that_never_ends_is_ended() -> None:
    [one] = renderings(HOSTILE["endless"][0], Host(0.3))
    assert one.problem == "the template does not come to an end."


def test_a_process_that_only_waits_is_ended_at_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "child.py"
    program.write_text("import time; time.sleep(60)")  # and ends without an answer, were it left alone
    monkeypatch.setattr("webapp.chat.host.PROGRAM", program)
    [one] = renderings(QWEN, Host(0.3))
    assert one.problem == "the template does not come to an end."


def test_a_process_that_ends_without_an_answer_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "child.py"
    program.write_text("raise SystemExit(3)")
    monkeypatch.setattr("webapp.chat.host.PROGRAM", program)
    assert renderings(QWEN)[0].problem.startswith("the template ended the process that ran it")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGXCPU])
def test_a_process_that_the_system_ends_for_its_time_did_not_come_to_an_end(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "child.py"
    program.write_text(f"import os; os.kill(os.getpid(), {int(number)})")
    monkeypatch.setattr("webapp.chat.host.PROGRAM", program)
    assert renderings(QWEN)[0].problem == "the template does not come to an end."


def test_the_process_gets_no_secret_of_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "child.py"
    program.write_text(
        "import json, os; words = ' '.join(os.environ); print(json.dumps([{'text': words}, {'text': words}]))"
    )
    monkeypatch.setattr("webapp.chat.host.PROGRAM", program)
    monkeypatch.setenv("HF_TOKEN", "secret")
    [one] = renderings(QWEN)
    assert "PATH" in one.text
    assert "HF_TOKEN" not in one.text


def test_a_template_that_is_too_long_is_not_run() -> None:
    [one] = renderings("x" * (MOST_TEMPLATE + 1))
    assert one.problem == "the template has more than 500,000 characters."


class Counting(Host):
    def __init__(self, answer: Rendering) -> None:
        super().__init__()
        self.answer, self.asked = answer, 0

    def renderings(self, asked: dict[str, object]) -> tuple[Rendering, ...]:
        self.asked += 1
        return (self.answer,)


def test_the_same_calls_are_written_once_and_a_search_has_an_end() -> None:
    host = Counting(Rendering("object", "x"))
    rerender = rerender_of("t", host)
    for number in range(MOST_RENDERED * 2):
        found = rerender([ToolCall(None, "f", str(number // 2))], Context(), ())
        assert found == (host.answer,)
    assert rerender([ToolCall(None, "g", "{}")], Context(), ()) == ()
    assert host.asked == MOST_RENDERED


def test_a_template_that_did_not_end_is_not_run_again() -> None:
    host = Counting(Rendering("object", problem="the template does not come to an end."))
    rerender = rerender_of("t", host)
    assert rerender(CALLS, Context(), ()) == rerender([ToolCall(None, "g", "{}")], Context(), ())
    assert host.asked == 1


def test_the_request_is_what_a_server_would_give_the_template() -> None:
    context = Context(tools=(Tool("find", {"type": "object"}), Tool("bare")), template_kwargs={"mode": 1, "no name": 2})
    given = asked("t", CALLS, context, ["end"])
    assert given["kwargs"] == {"mode": 1}
    assert [tool["function"]["parameters"] for tool in given["tools"]] == [
        {"type": "object"},
        {"type": "object", "properties": {}},
    ]
    assert given["tokens"]["bos_token"] == ""
