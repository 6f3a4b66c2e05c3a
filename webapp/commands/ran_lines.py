"""`replay --lines STEP`: the source that ran at a step, its lines marked, with what each did to the variables."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.replays.ran_lines import RanFunction, RanLine, RanLines
from webapp.commands.words import SHORT, count, quoted
from webapp.runs.step_lines import StepLines

AROUND = 2  # lines that did not run are shown so near to one that did


def lines_report(name: str, shown: StepLines) -> str:
    """The functions in the order in which they ran. `>` stands before a line that ran, `»` where the text was put into
    what was sent, and where that was returned."""
    found = shown.found
    sent = f"sent {quoted(shown.sent, SHORT)}" if shown.sent else "sent nothing"
    head = f"step {shown.step:,} of {shown.total:,} of {name}: {sent}, {count(len(found.lines), 'line')} ran"
    lines = [head]
    if words := _sent_by(found):
        lines.append(words)
    if not shown.repeats:
        lines.append("run again the parser sent something else at this step: these lines are of another run")
    if not found.functions:
        lines.append("its source cannot be seen: no file of the parser's package ran at this step")
    for number, function in enumerate(found.functions):
        ran: dict[int, list[tuple[int, RanLine]]] = {}
        for at, one in enumerate(found.lines):
            if one.function == number:
                ran.setdefault(one.line, []).append((at, one))
        lines += ["", f"{function.file}  {function.name}", *_source(function, ran, found)]
    if found.left_out:
        lines += ["", f"{count(found.left_out, 'more line')} ran that are not shown"]
    return "\n".join(lines)


def _sent_by(found: RanLines) -> str:
    """Which lines put the text there, and returned it."""
    told = (("put there", found.put_at), ("returned" if found.put_at is not None else "sent", found.sent_from))
    return ", ".join([f"{word} by {_place(found, at)}" for word, at in told if at is not None])


def _place(found: RanLines, at: int) -> str:
    line = found.lines[at]
    return f"{found.functions[line.function].file}:{line.line}"


def _source(function: RanFunction, ran: dict[int, list[tuple[int, RanLine]]], found: RanLines) -> Iterator[str]:
    marked = {one for one in (found.put_at, found.sent_from) if one is not None}
    near = {line + more for line in ran for more in range(-AROUND, AROUND + 1)}
    left_out = False
    for line, text in enumerate(function.source, function.first):
        if line not in near and line != function.first:
            left_out = True
            continue
        if left_out:
            yield "        ..."
            left_out = False
        times = ran.get(line, [])
        sent = any(at in marked for at, _ in times)
        yield f"{line:>6} {'»' if sent else '>' if times else ' '} {text}".rstrip()
        yield from (f"           {words}" for words in _done([one for _, one in times]))


def _done(times: list[RanLine]) -> Iterator[str]:
    """What a line did when it ran last, and how often it ran."""
    if not times:
        return
    last = times[-1]
    for one in last.changed:
        before = "" if one.before is None else f"{one.before} -> "
        yield f"{one.name}: {before}{one.after}"
    if last.returned is not None:
        yield f"returned {last.returned}"
    if last.raised is not None:
        yield f"raised {last.raised}"
    if len(times) > 1:
        yield f"ran {len(times):,} times; this is the last"
