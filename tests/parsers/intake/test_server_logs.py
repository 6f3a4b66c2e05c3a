"""Logs of servers that quote an output: what is taken from each line, and what it cannot say."""

from __future__ import annotations

import json

import pytest

from parsers.intake.server_logs import read_server_log


def finish(obj: str, out: str) -> str:
    return f"[2025-11-22 03:00:00] Finish: obj=GenerateReqInput({obj}), out={out}\n"


SGLANG: list[tuple[str, list[tuple[str, str | None, tuple[int, ...] | None]], list[str]]] = [
    (finish("rid='r'", "{'text': 'x', 'output_ids': [5], 'meta_info': {}}"), [("", "x", (5,))], ["special_tokens"]),
    (finish("sampling_params={'skip_special_tokens': False}", "{'text': 'x'}"), [("", "x", None)], []),
    (finish("sampling_params={'skip_special_tokens': True}", "{'text': 'x'}"), [("", "x", None)], ["special_tokens"]),
    (
        finish(
            "text='a' ... 'b'",
            "{'text': 'x' ... 'y', 'output_ids': [5] ... [6], 'meta_info': {'completion_tokens': 9}}",
        ),
        [("", "x", None)],
        ["text_cut", "special_tokens"],
    ),
    (
        finish("rid='r'", "{'text': [1] ... [2], 'output_ids': [1], 'meta_info': {'completion_tokens': 9}}"),
        [("", "", None)],
        ["ids_cut", "text_cut", "special_tokens"],
    ),
    (finish("!", "{'text': 'x'}"), [("", "x", None)], ["special_tokens"]),
    (finish("rid='r'", "{'text': 'x"), [("", "x", None)], ["broken_off", "special_tokens"]),
    (
        finish("rid='r'", "{'text': 'x'}") + finish("rid='s'", "{'text': 'y'}"),
        [("r", "x", None), ("s", "y", None)],
        ["special_tokens"],
    ),
    (finish("text='p'", "{'text': 'x'}") * 2, [("output 1", "x", None), ("output 2", "x", None)], ["special_tokens"]),
    (finish("rid='r'", "None") + finish("rid='r'", "{'embedding': 1}"), [], []),
    ("Finish: obj=nothing", [], []),
    (
        finish("rid='r'", "{'text': 'x'}") * 3,
        [("r", "x", None), ("r (2)", "x", None), ("r (3)", "x", None)],
        ["special_tokens"],
    ),
    (finish("", "{'text': None, 'output_ids': [1], 'meta_info': {'completion_tokens': 9}}"), [], []),
]


@pytest.mark.parametrize(("body", "rows", "warnings"), SGLANG)
def test_lines_of_sglang_are_taken_by_request(
    body: str, rows: list[tuple[str, str | None, tuple[int, ...] | None]], warnings: list[str]
) -> None:
    found = read_server_log(body)
    assert [(o.label, o.text, o.ids) for o in (found.outputs if found else ())] == rows
    assert [warn.code for warn in found.warnings] == warnings if found else not warnings


CALL = '<tool_call>\n{"a": "é"}'
QUOTED: list[tuple[str, list[str], list[str]]] = [
    (f"srv a\nsrv b: unparsed peg-native output: {CALL}\nsrv next\n", [CALL], ["special_tokens"]),
    (f"\x1b[31merror: unparsed peg-native output: {CALL}\x1b[0m", [CALL], ["special_tokens"]),
    (f"unparsed peg-native output: {CALL}\nFailed to parse input at pos 3: rest", [CALL], ["special_tokens"]),
    (f"unparsed peg-native output: {CALL}\nsrv x\nunparsed peg-native output: b\r\n", [CALL, "b"], ["special_tokens"]),
    (json.dumps({"error": {"message": f"Failed to parse input at pos 0: {CALL}"}}), [CALL], ["special_tokens"]),
    (
        f"Error code: 500 - { ({'error': {'message': f'Failed to parse input at pos 0: {CALL}'}})!r}",
        [CALL],
        ["special_tokens"],
    ),
    ('he said "x" and Failed to parse input at pos 0: y', ["y"], ["special_tokens"]),
    ('it said"Failed to parse input at pos 0: y', ["y"], ["special_tokens"]),
    ('"\nFailed to parse input at pos 0: y', ["y"], ["special_tokens"]),
    ("\"Failed to parse input\\x20at pos 0: z'; Failed to parse input at pos 0: y", ["y"], ["special_tokens"]),
    ("Failed to parse input at pos 7: y", ["y"], ["text_start_missing", "special_tokens"]),
    ("Failed to parse input at pos 0: \ufffd", ["\ufffd"], ["special_tokens", "lossy_text"]),
    (json.dumps({"error": f"error parsing tool call: raw='{CALL}', err=bad"}), [CALL], ["only_the_call"]),
    ("error parsing tool call: raw='a'b'", ["a'b"], ["only_the_call"]),
    ("error parsing tool call: raw='a", ["a"], ["only_the_call", "broken_off"]),
    (f"[2025-11-22 10:00:00][ERROR] no\nModel Output: {CALL}\n[2025-11-22 10:00:01][INFO] done\n", [CALL], []),
    ('{"message": "Model Output: a', ["a"], ["broken_off"]),
    ("Model Output:\n[INFO] x", [], []),
    (json.dumps({"error": f"Failed to parse tool call\nModel Output: {CALL}"}), [CALL], []),
    ("Parsing chat message: <th\nsrv x\nParsing chat message: <think>\nsrv y\n", ["<think>"], ["special_tokens"]),
    (
        "Parsing input with format Hermes 2 Pro: ab\nsrv x\nParsing chat message: ab\nsrv x\n",
        ["ab"],
        ["special_tokens"],
    ),
    (
        "Parsing chat message: abc\nsrv x\nParsing chat message: abd\nsrv x\nParsing chat message: a\n",
        ["abd", "a"],
        ["special_tokens", "rewritten"],
    ),
    (
        "task 1 | next token: 1 'a'\nslot x | task 2 | next token: 2 'b\n'\nnext token: 3 ''",
        ["a", "b\n", ""],
        ["specials_missing"],
    ),
    ("next token: 1 'a'", ["a"], ["special_tokens"]),
    ("next token: 1 'a'\nnext token: 2 'b", ["a"], ["special_tokens", "broken_off"]),
    ("next token: 1 'a", [], []),
    ("a Model said so", [], []),
]


FAILED = "Failed to parse input at pos"
SPELT = json.dumps(f"{FAILED} 9: {CALL}")
WRITTEN = "<tool_call>\n<function=save>\n<parameter=to>\n\n# a\n\nb\n</parameter>\n</function>\n</tool_call>"
# What a report says beside what it quotes is no part of it.
QUOTED += [
    (f"My agent stops here:\n\n```\n{FAILED} 0: {CALL}\n```\n\nAn older build is fine.\n", [CALL], ["special_tokens"]),
    (f"```\n {FAILED} 0: {CALL}\n```\n```\n{SPELT}\n```\n", [CALL], ["special_tokens"]),
    (f"So:\n```\n{json.dumps(f'{FAILED} 0: a{CALL}')}\n```\n~~~\n{SPELT[:-1]}\n~~~\n", [f"a{CALL}"],
     ["special_tokens"]),
    (f"```\n{FAILED} 0: one\n```\n```\n{FAILED} 4: two\n```\n", ["one", "two"], ["special_tokens"]),
    (f"{FAILED} 0: {WRITTEN}\n\n## Steps to reproduce\n\nTwo cards\n", [WRITTEN], ["special_tokens"]),
    (f"Since the update every second call of mine fails.\n{FAILED} 0: {WRITTEN}\n\nThe other card is idle.",
     [WRITTEN], ["special_tokens"]),
    (f"Since the update every second call of mine fails.\n{FAILED} 0: plain\n<details>\nmore", ["plain"],
     ["special_tokens"]),
    (f"srv a\n{FAILED} 0: {WRITTEN}\n\nThe other card is idle.", [f"{WRITTEN}\n\nThe other card is idle."],
     ["special_tokens"]),
    (f"Parsing chat message: {CALL}\nParsing input with format Hermes 2 Pro: {CALL}\n"
     "Failed to parse up to error: line 2", [CALL], ["special_tokens"]),
    ("error parsing tool call: raw='ls\n', err=bad 'l' {\"error\": \"error parsing tool call: raw='du\\n', err=bad\"}",
     ["ls\n", "du\n"], ["only_the_call"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "texts", "warnings"), QUOTED)
def test_what_a_failed_parser_quotes_is_taken(body: str, texts: list[str], warnings: list[str]) -> None:
    found = read_server_log(body)
    assert [output.text for output in (found.outputs if found else ())] == texts
    assert [warn.code for warn in found.warnings] == warnings if found else not warnings
