"""Objects that programs in several languages printed are told from what models write."""

from __future__ import annotations

import pytest

from parsers.search.pasted import Looked, look
from parsers.search.pasted_kinds import Pasted

DUMPED = {
    "var_dump": 'array(2) {\n  ["role"]=>\n  string(9) "assistant"\n  ["content"]=>\n  NULL\n  ["usage"]=>\n}',
    "var_dump of an object": 'object(A)#3 (2) {\n  ["role"]=>\n  NULL\n  ["content"]=>\n  NULL\n  ["usage"]=>\n}',
    "print_r": "Array\n(\n    [role] => assistant\n    [content] => Hi\n    [finish_reason] => stop\n)\n",
    "print_r of an object": "stdClass Object\n(\n    [role] => assistant\n    [content] => Hi\n    [usage] => \n)\n",
    "Swift": '▿ Client.Message\n  - role: "assistant"\n  - content: nil\n  ▿ tool_calls: 1 element\n',
    "Java": "Choice{finishReason=stop, message=Message{content=Hi, role=assistant, toolCalls=null}}",
    "Kotlin": "resp=Choice(finishReason=stop, message=Message(content=Hi, role=assistant))",
    "Go": "2026/03/02 10:11:13 resp: {Role:assistant Content:Hi ToolCalls:[] FinishReason:stop}",
}


@pytest.mark.parametrize("text", DUMPED.values(), ids=DUMPED)
def test_what_a_program_printed_is_no_output(text: str) -> None:
    assert look(text) == Looked(Pasted.PRINTED, True)


@pytest.mark.parametrize(
    "text",
    [
        "Array\n(\n    [a] => 1\n)\n",
        "array(1) {\n  [0]=>\n  int(1)\n}\n",
        'Post(role="user", content="Hi", message=\'x\')',
        "Point{x=1, y=2, role=3}",
        "{Name:x Age:3}",
        "The role: assistant; content: none; usage: low.",
        "▿ a list of content: role: usage",
    ],
)
def test_what_has_none_of_an_answers_keys_may_be_one(text: str) -> None:
    assert look(text) is None or not look(text).surely  # type: ignore[union-attr]
