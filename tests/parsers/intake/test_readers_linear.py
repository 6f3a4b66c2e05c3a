"""Every reader of other shapes is linear: twice the input takes about twice the time, on hostile input too.

These tests run by themselves, without coverage and without other tests beside them. Only ratios are asserted.
"""

from __future__ import annotations

import pytest

from parsers.intake.answers import read_har, read_logged_lines
from parsers.intake.client_objects import read_client_objects
from parsers.intake.dynamo_cases import read_dynamo
from parsers.intake.evidence import Reader
from parsers.intake.server_logs import read_server_log
from parsers.intake.string_lists import read_delta_lines, read_quoted, read_string_list
from parsers.intake.token_records import read_replay_record, read_token_ids, read_token_pairs
from parsers.intake.vllm_suites import read_vllm_suite
from tests.growth import assert_linear, seconds

pytestmark = pytest.mark.linear

SIZES = (10_000, 20_000, 40_000)
VLLM = "Generated response a: output: 'x"
SGLANG = "Finish: obj=G(rid='a'"
PARITY = "cases:\n  model_text: "
SAMPLE = f"""S = Sample(id="a", tokens=[(1, "a")], expected_content="a")
def f():
    return {[1] * 150}
"""

# The reader, what stands first, what is repeated.
REPEATED: list[tuple[Reader, str, str]] = [
    (read_string_list, "[", "'a\\n', "),
    (read_string_list, "", "['a']\n"),
    (read_client_objects, "", "content='a' additional_kwargs={} id='1'\n"),
    (read_client_objects, "content='a' additional_kwargs={}", " a='b'"),
    (read_client_objects, "", "content='a additional_kwargs= \n"),
    (read_logged_lines, "", '{"log": "data: {}\\n"}\n'),
    (read_logged_lines, "", '{"body": {"choices": []}}\n'),
    (read_logged_lines, "", '{"a": "b'),
    (read_string_list, "", "['a',\n"),
    (read_string_list, "[", "['a'],\n"),
    (read_string_list, "", ">>> a\n"),
    (read_quoted, "'", "\\"),
    (read_quoted, "", "'a'\n"),
    (read_quoted, "", "'a\n"),
    (read_delta_lines, "", "DELTA TEXT: a\n"),
    (read_delta_lines, "", "DELTA TEXT: a "),
    (read_delta_lines, "DELTA TEXT: ", "INFO\n"),
    (read_delta_lines, "DELTA TEXT: ", "a | b\n"),
    (read_token_pairs, "[", '[1, "a"], '),
    (read_token_pairs, "", '{"tokens": [[1, "a"]]}'),
    (read_token_ids, "[", "1, "),
    (read_token_ids, "", "[1],\n"),
    (read_token_ids, "", "[1]\n"),
    (read_token_ids, "", "1 "),
    (read_token_ids, "", "tensor("),
    (read_token_ids, "", "a."),
    (read_token_ids, "", "token_ids=["),
    (read_token_ids, "", "["),
    (read_replay_record, '{"output_token_ids": [', "1, "),
    (read_replay_record, "", '{"output_token_ids": [1]}'),
    (read_replay_record, "", '{"output_token_ids": '),
    (read_replay_record, "", 'data: {"stream_state": {"output_token_ids": [1]}}\n'),
    (read_client_objects, "", "ChoiceDelta(index=0)\n"),
    (read_client_objects, "", "ChoiceDelta(a='x' \n"),
    (read_client_objects, "", "[ChoiceDelta(a=1), "),
    (read_client_objects, "", "ChoiceDelta("),
    (read_client_objects, "", "[\n"),
    (read_client_objects, "", "CompletionOutput(text='a')"),
    (read_client_objects, "", "ChoiceDelta."),
    (read_client_objects, "", "AIMessageChunk(content='', tool_call_chunks=[{'args': 'a', 'index': 0}])\n"),
    (read_har, '{"log": {"entries": [{"response": {"content": {"text": "', "data: {}\\n\\n"),
    (read_har, '{"log": {"entries": [', '{"response": {"content": {"text": "{}"}}}, '),
    (read_server_log, "", VLLM + "'\n"),
    (read_server_log, "", VLLM + "\n"),
    (read_server_log, VLLM, "Generated response "),
    (read_server_log, "", "Generated response a: output_token_ids: ["),
    (read_server_log, "", SGLANG + "), out={'text': 'a'}\n"),
    (read_server_log, "", SGLANG),
    (read_server_log, "", "Finish: obj=G(!), out={'text': "),
    (read_server_log, "", "Parsing chat message: a\nsrv x\n"),
    (read_server_log, "", "next token: 3 'a'\n"),
    (read_server_log, "", "next token: 3 '"),
    (read_server_log, "", "unparsed a output: x "),
    (read_server_log, "", '"Failed to parse input at pos 1: '),
    (read_server_log, "", "{'m': 'Failed to parse input at pos 1: x'}"),
    (read_server_log, "", "error parsing tool call: raw='"),
    (read_server_log, "", "Model Output: x\nINFO\n"),
    (read_server_log, "Since when?\n", "```\nFailed to parse input at pos 1: x\n```\nand so it goes on here, again.\n"),
    (read_dynamo, PARITY, "[a, "),
    (read_dynamo, PARITY, "- "),
    (read_dynamo, PARITY, "{"),
    (read_dynamo, PARITY, "\n  x"),
    (read_dynamo, PARITY + "&a b\n  k: [", "*a, "),
    (read_dynamo, "cases:\n", "- model_text: x\n"),
    (read_vllm_suite, "", SAMPLE),
]


@pytest.mark.parametrize(
    ("reader", "before", "part"), REPEATED, ids=[f"{row[0].__name__} {row[1]}{row[2][:80]}" for row in REPEATED]
)
def test_twice_the_input_takes_about_twice_the_time(reader: Reader, before: str, part: str) -> None:
    def timed(size: int) -> float:
        text = before + part * (size // len(part))
        return seconds(lambda: reader(text))

    assert_linear(timed, SIZES)
