"""What is said of a case that fails: what is not as expected, the deltas around it, and the commands that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

LONGEST = 300  # characters of a text
FED = 40  # of what was fed
MOST_ERRORS = 10
HERE = "<- here"


def failure_words(title: str, checked: Mapping[str, Any], commands: Iterable[str], *, everything: bool) -> str:
    """All of it. `everything`: all characters of what was fed."""
    if checked["outcome"] == "unusable":
        return f"{title}: {checked['why']}"
    shown = checked["shown"]
    notes = [checked[key] for key in ("late", "unsteady") if checked.get(key)]
    lines = [f"{title}: {_headline(checked, shown)}", *notes, ""]
    lines += [line for one in shown["differences"] for line in _difference(one)]
    lines += [f"  check {one['check']}{_place(one)}: {one['message']}" for one in checked["errors"][:MOST_ERRORS]]
    if len(checked["errors"]) > MOST_ERRORS:
        lines.append(f"  and {len(checked['errors']) - MOST_ERRORS} more errors of checks")
    lines += ["", *_table(_steps(shown, LONGEST if everything else FED))]
    lines += ["", *[f"shown by  {command}" for command in commands]]
    return "\n".join(lines)


def _headline(checked: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    deltas = f"{shown['label']} ({shown['deltas']:,} {'delta' if shown['deltas'] == 1 else 'deltas'})"
    if checked["failing"]:
        smallest = "the smallest of them" if checked.get("late") else "the smallest"
        return f"not as expected in {checked['failing']} of {checked['replays']} replays; {smallest}: {deltas}"
    return f"checks find errors; the smallest chunking that shows it: {deltas}"


def _difference(one: Mapping[str, Any]) -> list[str]:
    return [f"  {one['field']}", f"    expected {_text(one['expected'])}", f"    actual   {_text(one['actual'])}"]


def _place(error: Mapping[str, Any]) -> str:
    return "" if error["step"] is None else f" at step {error['step']:,}"


def _steps(shown: Mapping[str, Any], most: int) -> Iterator[Sequence[str]]:
    yield "step", "fed", "sent", ""
    for step in shown["steps"]:
        fed = "the end" if step["end"] else _text(step["fed"], most)
        sent = ", ".join(_sent(step["sent"] or {})) or "-"
        if step["raised"]:
            sent = f"failed: {step['raised']}"
        yield f"{step['index']:,}", fed, sent, HERE if step["index"] == shown["at"] else ""


def _sent(delta: Mapping[str, Any]) -> Iterator[str]:
    for name in ("reasoning", "content"):
        if delta.get(name):
            yield f"{name} {_text(delta[name])}"
    for call in delta.get("tool_calls") or ():
        for name in ("name", "arguments"):
            text = (call.get("function") or {}).get(name)
            if text:
                yield f"call {call['index']} {name} {_text(text)}"


def _text(text: str, most: int = LONGEST) -> str:
    """A text on one line, with what cannot be seen spelled out."""
    return repr(text) if len(text) <= most else f"{text[: most // 2]!r}...{text[-most // 2 :]!r}"


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    found = list(rows)
    widths = [max(len(row[at]) for row in found) for at in range(len(found[0]))]
    return ["  " + "  ".join([cell.ljust(width) for cell, width in zip(row, widths)]).rstrip() for row in found]
