"""An engine that keeps the protocol, whose parsers misbehave when the text `!` reaches them. Standard library alone.

Parsers: `echo` sends all as content; `upper` says it loudly and streams another thing than it gives as a whole;
`halves` sends halves of surrogate pairs wherever text may stand; every
other one is a key of FAULTS, and does that. Started as `PYTHON fake_engine.py [FLAG...]`; a flag is a way not to keep
the protocol, see FLAGS.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any

FLAGS = (
    "old",
    "mute",
    "short",
    "hasty",
    "sloppy",
    "forgetful",
    "strict",
    "silent",
    "refuses",
    "dies",
    "reversed",
    "chatty",
    "doubled",
    "twins",
    "lawless",
    "stateless",
    "misplaced",
    "beyond",
    "fibbing",
    "far",
    "babbling",
    "late",
    "lazy",
    "strewing",
    "spinning",
    "tidying",
)
NAMES = ("echo", "upper", "raises", "lies", "miscounts", "halves", "brief")
HOARD: list[bytes] = []


def say(*messages: Any) -> None:
    """A line for each, at once."""
    sys.stdout.write("".join([json.dumps(one) + "\n" for one in messages]))
    sys.stdout.flush()


def hangs() -> None:
    while True:
        time.sleep(1)


def crashes() -> None:
    os._exit(3)


def panics() -> None:
    """It says why on standard error, as most languages do."""
    print("worker.rs:7: index out of bounds", file=sys.stderr, flush=True)
    os._exit(101)


def segfaults() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def alarms() -> None:
    """As a parser does that has a timer of its own."""
    os.kill(os.getpid(), signal.SIGALRM)


def eats() -> None:
    while True:
        HOARD.append(b"x" * 20_000_000)
        time.sleep(0.02)


def babbles() -> None:
    print("Loading checkpoint shards: 100%")
    sys.stdout.flush()


def floods() -> None:
    while True:
        sys.stdout.write("x" * 1_000_000)


def forks() -> None:
    """A child that keeps our pipes, while we are gone."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(4)


def closes() -> None:
    """Nobody hears of it any more, while it lives."""
    os.close(1)
    time.sleep(600)


def strews() -> None:
    """A process that has left our group, session, pipes and environment, and its parents."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if not os.fork():
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        os.execve(sys.executable, [sys.executable, "-I", "-c", "import time; time.sleep(600)"], {})
    os._exit(0)


def spins() -> None:
    while True:
        pass


def tidies() -> None:
    """A bit of work now and then, as with a cache that is looked through."""
    while True:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        time.sleep(0.2)


def nests() -> None:
    sys.stdout.write('{"answer": ' + "[" * 200_000 + "\n")
    sys.stdout.flush()


FAULTS = {
    one.__name__: one
    for one in (hangs, crashes, panics, segfaults, alarms, eats, babbles, floods, forks, nests, closes)
}


def hello(flags: list[str]) -> dict[str, Any]:
    names = [*NAMES, *FAULTS]
    parsers = [{"name": name, "kind": "tool"} for name in names] + [{"name": "thinks", "kind": "reasoning"}]
    card = {"name": "fake", "version": "1.0", "parsers": parsers, "wants": "ids", "whole": True, "contract": "vllm"}
    if "twins" in flags:
        parsers.append({"name": "echo", "kind": "tool"})
    if "lawless" in flags:
        card["contract"] = "nobody's"
    server = {"holds_text": "stop_strings", "many_tokens": "sent", "empty_deltas": "sent"}
    return {"protocol": 2 if "old" in flags else 1, **card, "server": server, "later": [1]}


def replay(run: dict[str, Any], deltas: list[Any], flags: list[str]) -> dict[str, Any]:
    sent: list[Any] = []
    steps = run.get("report") == "steps" and "silent" not in flags
    if run["parser"] not in {*NAMES, *FAULTS}:
        return {"sent": [], "raised": {"step": 0, "kind": "KeyError", "message": "no such parser"}}
    if run["parser"] == "brief":  # it never says anything of the end
        return {"sent": [None] * len(deltas)}
    if run["parser"] == "halves":
        return half(deltas)
    if run.get("path") == "whole":
        text = "".join([one[0] for one in deltas])
        if "silent" in flags and "!" in text and run["parser"] in FAULTS:
            FAULTS[run["parser"]]()
        return {"sent": [{"content": text}] * (2 if "short" in flags else 1)}
    for step, (text, *_) in enumerate([*deltas, [""]], 1):
        if steps:
            fib = {"content": "fib"} if "fibbing" in flags and step == 2 else None
            say({"progress": {"step": step, "sent": fib or (sent[-1] if sent else None)}})
        if "!" in text and run["parser"] in FAULTS:
            FAULTS[run["parser"]]()
        if "!" in text and run["parser"] == "raises":
            told = {"step": step, "kind": "ValueError", "message": "no !", "place": "feed, line 7 of fake.py"}
            return {"sent": sent, "raised": told, "printed": [[step, "an exclamation mark"]]}
        sent.append({"content": text.upper() if run["parser"] == "upper" else text} if text else None)
    if run["parser"] == "lies" and any("!" in text for text, *_ in deltas):
        return {"sent": [{"content": 7}, *sent[1:]]}
    if run["parser"] == "miscounts" and any("!" in text for text, *_ in deltas):
        return {"sent": sent[1:]}
    said = {"sent": sent[: -1 if "short" in flags else None], "micros": [-1 if "hasty" in flags else 1] * len(sent)}
    return {**said, **seen(run, flags)}


def seen(run: dict[str, Any], flags: list[str]) -> dict[str, Any]:
    """What it says of what was looked at, wrongly."""
    if "far" in flags:
        return {"raised": {"step": 1_000, "kind": "ValueError", "message": "no"}}
    if run.get("observe") == "state" and "stateless" in flags:
        return {"states": [{"state": "S"}]}
    if run.get("observe") == "lines" and {"misplaced", "beyond"} & {*flags}:
        return {"lines": {"functions": "misplaced" in flags or [], "events": [], "steps": [99]}}
    return {}


def half(deltas: list[Any]) -> dict[str, Any]:
    """Halves of characters in all that it sends, prints, shows and fails with."""
    call = {"index": 0, "id": "c\udc01", "function": {"name": "f\ud801", "arguments": '{"a\ud802": "\udc03"}'}}
    sent: list[Any] = [
        {"reasoning": "r\ud804", "content": text + "\ud805", "tool_calls": [call]} for text, *_ in deltas
    ]
    told = {"step": len(deltas) + 1, "kind": "E\ud806", "message": "m\udc07", "place": "p\ud808"}
    state = {"changed": [["A.b\ud80a", None, "\ud809", None]], "state": "s\ud80b", "moves": []}
    return (
        {
            "sent": sent,
            "raised": told if any("!" in text for text, *_ in deltas) else None,
            "printed": [[1, "\ud80c"]],
            "attributes": {"A.b\ud80a": "\ud80d"},
            "states": [state] * len(sent),
        }
        if any("!" in text for text, *_ in deltas)
        else {"sent": [*sent, None], "printed": [[1, "\ud80c"]]}
    )


def main(flags: list[str]) -> None:
    """Answer until there are no more lines."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "dies" in flags:
            print("no GPU was found", file=sys.stderr)
            sys.exit(5)
        if "refuses" in flags:
            say({"failed": "ImportError: no module named torch"})
        elif "mute" in flags:
            say({"hello": "there"})
        elif "hello" in asked:
            say({"answer": hello(flags)})
        elif "strict" in flags and "no_such_key" in asked["run"]:
            say({"failed": "there is no key no_such_key"})
        elif "babbling" in flags:
            say("loading")
        elif "late" in flags:
            hangs()
        else:
            run = asked["run"]
            if "sloppy" in flags and run["parser"] == "no_such_parser":
                run = {**run, "parser": "echo"}
            if "lazy" in flags:  # its first replay loads what all others need
                time.sleep(0.2)
                flags = [one for one in flags if one != "lazy"]
            for _ in range(flags.count("strewing")):
                strews()
            for flag, work in (("spinning", spins), ("tidying", tidies)):
                if flag in flags and threading.active_count() < 2:
                    threading.Thread(target=work, daemon=True).start()
            found = [replay(run, deltas, flags) for deltas in run["replays"]]
            if "reversed" in flags:
                found.reverse()
            if "forgetful" in flags and len(found) > 2:
                found[-1]["sent"][0] = {"content": "It "}
            answers = [{"answer": {"replays": found}}] * (2 if "chatty" in flags else 1)
            say(*[{**one, "failed": "no"} if "doubled" in flags else one for one in answers])


if __name__ == "__main__":
    main(sys.argv[1:])
