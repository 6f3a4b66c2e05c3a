"""A chat template that stands in a file of its own, as save_pretrained of transformers 5 writes it."""

from __future__ import annotations

import json

TEMPLATE = "chat_template.jinja"


def with_template(config: bytes | None, template: bytes | None) -> bytes | None:
    """The tokenizer_config.json with the template that is in force: the one beside it.

    What is no JSON object stays as it is, to be refused where it is read.
    """
    if template is None:
        return config
    try:
        data = json.loads(config or b"{}")
    except (ValueError, RecursionError):
        return config
    if not isinstance(data, dict):
        return config
    return json.dumps({**data, "chat_template": template.decode("utf-8", "replace")}).encode()
