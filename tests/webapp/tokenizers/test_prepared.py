"""Chat templates in a file of their own."""

from __future__ import annotations

import json

import pytest

from webapp.tokenizers.prepared import with_template


@pytest.mark.parametrize(
    ("config", "template", "wanted"),
    [
        (None, None, None),
        (b'{"a": 1}', None, {"a": 1}),
        (None, b"{{ x }}", {"chat_template": "{{ x }}"}),
        (b'{"a": 1, "chat_template": "old"}', b"new \xff", {"a": 1, "chat_template": "new \ufffd"}),
        (b"[1]", b"new", [1]),
    ],
)
def test_the_template_beside_a_configuration_is_in_force(
    config: bytes | None, template: bytes | None, wanted: object
) -> None:
    found = with_template(config, template)
    assert (None if found is None else json.loads(found)) == wanted


def test_what_is_no_json_is_left_to_be_refused() -> None:
    assert with_template(b"{", b"new") == b"{"
