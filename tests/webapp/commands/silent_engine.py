"""An engine whose parser `hermes` loses every output with a call, and sends all others. Standard library alone.

Started as `PYTHON silent_engine.py SERVER`, which is what it says of itself.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def sent(texts: list[str]) -> list[Any]:
    """What is sent at each delta and at the end."""
    lost = "<tool_call>" in "".join(texts)
    return [*[None if lost or not text else {"content": text} for text in texts], None]


def main(server: str) -> None:
    """Answer until there are no more lines."""
    card = {"protocol": 1, "name": server, "version": "9.9", "parsers": [{"name": "hermes", "kind": "tool"}]}
    for line in sys.stdin:
        asked = json.loads(line)
        told: dict[str, Any] = card
        if "hello" not in asked:
            told = {"replays": [{"sent": sent([one[0] for one in deltas])} for deltas in asked["run"]["replays"]]}
        sys.stdout.write(json.dumps({"answer": told}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
