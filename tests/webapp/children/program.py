"""A program for children of the tests: tasks that answer, and tasks that misbehave. The standard library alone."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from webapp.children.worker import RefusedError, Task, Tell

Data = dict[str, Any]
MEGABYTES_50 = 50_000_000


def tasks(**given: Any) -> dict[str, Task]:
    """All of them; what is `given` shows in recall."""
    if given.get("broken"):
        raise ValueError("broken from the start")
    kept: Data = {}

    def remember(request: Data, _tell: Tell) -> Data:
        kept.update(request)
        return {}

    def recall(_request: Data, _tell: Tell) -> Data:
        return {"pid": os.getpid(), "given": given, "kept": kept}

    others = (
        echo,
        mirror,
        ask,
        spin_between,
        stubborn,
        swallow,
        surroundings,
        count,
        chatter,
        sleep,
        spin,
        grow,
        write,
        leave,
        kill,
        speak,
        refuse,
        fail,
        panic,
        odd,
    )
    return {task.__name__: task for task in (remember, recall, *others)}


def echo(request: Data, _tell: Tell) -> Data:
    return request


def mirror(request: Data, tell: Tell) -> Data:
    """Say what came raw, backwards, as progress and as the answer."""
    tell({"size": len(request["raw"]), "raw": request["raw"][::-1]})
    return {"raw": request["raw"][::-1]}


def ask(request: Data, parent: Any) -> Data:
    """Ask the parent so often; all of its replies."""
    return {"replies": [parent.ask({"number": number}) for number in range(request["times"])]}


def spin_between(request: Data, parent: Any) -> Data:
    """Ask the parent, then never end."""
    parent.ask({"about": "to spin"})
    return spin(request, parent)


def stubborn(_request: Data, _tell: Tell) -> Data:
    """Never end, and swallow everything."""
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            continue


def swallow(_request: Data, _tell: Tell) -> Data:
    """Make a result of whatever happens."""
    try:
        time.sleep(600)
    except BaseException as error:
        return {"swallowed": repr(error)}
    return {}


def surroundings(_request: Data, _tell: Tell) -> Data:
    return {"variables": sorted(os.environ), "modules": sorted(sys.modules), "input": sys.stdin.read()}


def count(request: Data, tell: Tell) -> Data:
    for number in range(request["to"]):
        tell({"number": number})
    return {"to": request["to"]}


def chatter(_request: Data, _tell: Tell) -> Data:
    print("\x00\x00\x00\x02{}" * 100, flush=True)
    os.write(1, b"\x00\x00\x00\x02{}" * 100)
    os.write(2, b"said on standard error\n")
    return {"said": True}


def sleep(request: Data, tell: Tell) -> Data:
    tell({"asleep": True})
    time.sleep(request.get("seconds", 600))
    return {}


def spin(_request: Data, _tell: Tell) -> Data:
    while True:
        sum(range(10_000))


def grow(_request: Data, _tell: Tell) -> Data:
    taken = []
    while True:
        taken.append(bytearray(MEGABYTES_50))


def write(request: Data, _tell: Tell) -> Data:
    return {"text": "x" * request["bytes"]}


def leave(request: Data, _tell: Tell) -> Data:
    os.write(2, b"last words")
    os._exit(request["code"])


def kill(request: Data, _tell: Tell) -> Data:
    os.kill(os.getpid(), request["signal"])
    time.sleep(600)
    return {}


def speak(request: Data, _tell: Tell) -> Data:
    """Write to whatever is open as if it were the wire, as a library could that was taken over."""
    for number in range(3, 32):
        try:
            os.write(number, bytes.fromhex(request["hex"]))
        except OSError:
            continue
    return {}


def refuse(_request: Data, _tell: Tell) -> Data:
    raise RefusedError("not today")


def fail(_request: Data, _tell: Tell) -> Data:
    raise ValueError("first line\nsecond line")


def panic(_request: Data, _tell: Tell) -> Data:
    raise BaseException("index out of bounds")


def odd(_request: Data, _tell: Tell) -> Data:
    return {"no JSON": object()}
