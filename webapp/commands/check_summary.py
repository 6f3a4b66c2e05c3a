"""What `check` found as Markdown, for the summary of a build: what became worse first, then what is fixed.

Output of a model stands in code that nothing inside can close. Lists are short, for a summary of a build may have a
million bytes: the log and the JUnit file have the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from parsers.cases.export.markdown_text import cell, fence, inline
from webapp.cli import one_line
from webapp.commands.baselines import in_words
from webapp.commands.case_outcomes import BASE, Asked, CaseResult, Outcome
from webapp.commands.words import count

MOST_ROWS = 50
MOST_DETAILS = 10
_ORDER: tuple[Outcome, ...] = (
    "FAIL",
    "unusable",
    "as before",
    "known bug",
    "fixed",
    "not seen",
    "differs",
    "skip",
    "ok",
)
_KNOWN: tuple[Outcome, ...] = ("known bug", "fixed", "not seen")


def tested(asked: Asked) -> Iterator[str]:
    """Who is tested, where that is not whom the cases name."""
    if asked.tested:
        yield f"tested: {asked.tested}, in the place of the cases' own parsers"


def counted(results: Sequence[CaseResult], asked: Asked) -> str:
    """`60 cases: 57 ok, 3 FAIL`, in the order in which the outcomes came."""
    outcomes = Counter(result.outcome for result in results)
    several = len(asked.by) > 1
    number = f"{count(len(results), 'run')} by {len(asked.by)} engines" if several else count(len(results), "case")
    return f"{number}: " + ", ".join([f"{times:,} {what}" for what, times in outcomes.items()])


def remarks(results: Sequence[CaseResult], asked: Asked) -> Iterator[str]:
    """What besides is worth a line: what is fixed, what a baseline knows that nobody ran, what differs from base."""
    if late := [one for one in results if one.late]:
        few = _few([one.called for one in late])
        yield f"{count(len(late), 'case')} not under every chunking, for the engine was slow: {few}"
    numbers = dict(zip(("fixed", "partly fixed"), map(len, _fixed(results)), strict=True))
    if asked.baseline is not None:
        then = "refresh the baseline (--write-baseline)"
        if any(map(_is_failing, results)):
            then = "the baseline would take what became worse for known, so refresh it when nothing is"
        yield from (f"{n:,} {words}: {then}" for words, n in numbers.items() if n)
        if absent := asked.baseline.absent:
            were = count(len(absent), "case of the baseline was", "cases of the baseline were")
            yield f"{were} not there, or changed since: {_few(absent)}"
        if unasked := asked.baseline.unasked:
            were = count(len(unasked), "case of the baseline was", "cases of the baseline were")
            yield f"{were} not run by that engine: {_few(unasked)}"
    elif asked.base is not None:
        yield from (f"{n:,} {words}: {asked.base.word} is wrong there" for words, n in numbers.items() if n)
        other = [one for one in results if one.apart and not (one.worse or one.better)]
        if other:
            cases = count(len(other), "case gives", "cases give")
            names = _few([in_words({one.called: one.apart}) for one in other])
            yield f"{cases} another message than {BASE}, and none is known to be right: {names}"


def _fixed(results: Sequence[CaseResult]) -> tuple[list[CaseResult], list[CaseResult]]:
    """What was wrong before and is right now, and what is less wrong. What is worse in one thing is neither."""
    better = [result for result in results if result.better and not _is_failing(result)]
    return [one for one in better if not one.wrong], [one for one in better if one.wrong]


def _is_failing(result: CaseResult) -> bool:
    return result.outcome in ("FAIL", "unusable")


def _few(names: Sequence[str]) -> str:
    shown = list(map(one_line, names[:3]))
    return ", ".join(shown) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def summary(results: Sequence[CaseResult], asked: Asked, words: Sequence[str]) -> str:
    """The whole summary. `words`: what was said besides, a line each."""
    failing = [*filter(_is_failing, results)]
    verb = "became worse" if asked.judges else "failed"
    title = f"{count(len(failing), 'case')} {verb}" if failing else f"nothing {verb}"
    lines = [f"## Toolcall Inspector: {title}", "", *_numbers(results), ""]
    lines += [f"- {inline(remark)}" for remark in (*tested(asked), *remarks(results, asked), *words)]
    fixed, partly = _fixed(results)
    lines += [*_section("Worse" if asked.judges else "Failed", failing, _failing)]
    lines += [*_section("Fixed", fixed, _better), *_section("Partly fixed", partly, _better)]
    lines += [*_section("Known bugs", [one for one in results if one.outcome in _KNOWN], _known)]
    return "\n".join(lines).rstrip() + "\n"


def _numbers(results: Sequence[CaseResult]) -> Iterator[str]:
    """A table of engines and outcomes."""
    outcomes = Counter((result.engine, result.outcome) for result in results)
    found = [outcome for outcome in _ORDER if any(other == outcome for _, other in outcomes)]
    engines = list(dict.fromkeys(result.engine for result in results))
    yield "| " + " | ".join(["engine", "cases", *found]) + " |"
    yield "|---|" + "---:|" * (len(found) + 1)
    for engine in engines:
        numbers = [outcomes[engine, outcome] for outcome in found]
        name = cell(engine) if engine else "of each case"
        yield "| " + " | ".join([name, *[f"{number:,}" for number in (sum(numbers), *numbers)]]) + " |"


def _section(title: str, results: Sequence[CaseResult], lines: Callable[[CaseResult], Iterator[str]]) -> Iterator[str]:
    if not results:
        return
    yield from ("", f"### {title}", "")
    for result in results[:MOST_ROWS]:
        yield from lines(result)
    if len(results) > MOST_ROWS:
        yield f"- and {len(results) - MOST_ROWS:,} more"


def _failing(result: CaseResult) -> Iterator[str]:
    wrong = in_words(result.worse or result.wrong) or result.why
    link = f" ([permalink](<{result.link}>))" if result.link else ""
    yield f"- {cell(one_line(result.called))}: {cell(one_line(wrong))}{link}{_see(result)}"
    if result.details:
        shown = result.details[:MOST_DETAILS] + result.details[-1:] * (len(result.details) > MOST_DETAILS)
        yield from ("", *[f"  {line}" for line in fence("\n".join(shown)).split("\n")], "")


def _known(result: CaseResult) -> Iterator[str]:
    """What the case calls a known bug: how it is today, and where more is said of it."""
    wrong = f": {cell(in_words(result.wrong))}" if result.wrong else ""
    yield f"- {cell(one_line(result.called))}: {result.outcome}{wrong}{_see(result)}"


def _see(result: CaseResult) -> str:
    """Where the case says that more is said of it: a link where it is an address of the web."""
    where = result.said_at
    if where.startswith(("https://", "http://")):
        return f" ([link](<{where.replace('<', '%3C').replace('>', '%3E')}>))"
    return f" (see {cell(where)})" if where else ""


def _better(result: CaseResult) -> Iterator[str]:
    yield f"- {cell(one_line(result.called))}: {cell(in_words(result.better))}"
