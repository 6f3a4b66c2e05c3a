"""An engine that reads `NAME KEY VALUE` as a call, under an id that it makes up each time. Standard library alone.

Started as `PYTHON calling_engine.py [KEY=LETTERS...]`: `loses=x` sends a text with an x in it as content; `splits=y`
loses the last delta of several that make a text with a y in it; `few=3` sends what comes in at most 3 deltas as
content, `many=4` what comes in at least 4; `raises=x` breaks off at the end of one with an x;
`refuses=` does not start.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

CARD = {
    "protocol": 1,
    "name": "calling",
    "version": "1.0",
    "parsers": [{"name": "calls", "kind": "tool"}],
    "server": {"empty_deltas": "sent"},
}


def sent(texts: list[str], flaws: dict[str, str]) -> list[dict[str, Any] | None]:
    """What is sent at each delta and at the end."""
    whole = "".join(texts)
    odd = len(texts) <= int(flaws.get("few", 0)) or len(texts) >= int(flaws.get("many", 1_000_000))
    if odd or (flaws.get("loses") and set(flaws["loses"]) & set(whole)):
        return [*[{"content": text} if text else None for text in texts], None]
    if len(texts) > 1 and set(flaws.get("splits", "")) & set(whole):
        whole = "".join(texts[:-1])
    name, key, text = [*whole.split(" ", 2), "", ""][:3]
    function = {"name": name, "arguments": json.dumps({key: text})}
    return [*[None] * len(texts), {"tool_calls": [{"index": 0, "id": os.urandom(8).hex(), "function": function}]}]


def replayed(texts: list[str], flaws: dict[str, str]) -> dict[str, Any]:
    """One replay, which breaks off at the end where it is to raise."""
    if not set(flaws.get("raises", "")) & set("".join(texts)):
        return {"sent": sent(texts, flaws)}
    fault = {"step": len(texts), "kind": "ValueError", "message": "no x"}
    return {"sent": [None] * len(texts), "raised": fault}


def main(flaws: dict[str, str]) -> None:
    """Answer until there are no more lines."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "refuses" in flaws:
            answer: dict[str, Any] = {"failed": "ImportError: no module named torch"}
        elif "hello" in asked:
            answer = {"answer": CARD}
        else:
            replays = [replayed([text for text, *_ in deltas], flaws) for deltas in asked["run"]["replays"]]
            answer = {"answer": {"replays": replays}}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(dict(word.split("=", 1) for word in sys.argv[1:]))
