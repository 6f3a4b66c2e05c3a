"""What `check` found as tests of JUnit: a suite is a file, a test is a case by one engine. What fails as before is
skipped and says so: nobody's build is red for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webapp.commands.baselines import in_words
from webapp.commands.case_outcomes import NOT_SEEN, CaseResult
from webapp.commands.junit import End, JunitTest, junit_text

_ENDS: Mapping[str, End] = {
    "FAIL": "failure",
    "unusable": "error",
    "skip": "skipped",
    "as before": "skipped",
    "known bug": "skipped",
}


def check_junit(results: Sequence[CaseResult], tested: str = "") -> str:
    """The whole document. `tested`: who was tested, where that is not whom the cases name."""
    return junit_text("check", [*map(_test, results)], {"tested": tested} if tested else None)


def _test(result: CaseResult) -> JunitTest:
    return JunitTest(
        suite=result.file,
        group=result.file,
        name=result.called.removeprefix(f"{result.file}::"),
        end=_ENDS.get(result.outcome),
        message=_message(result),
        text=_text(result),
        seconds=result.seconds,
        file=result.file,
    )


def _message(result: CaseResult) -> str:
    wrong = in_words(result.worse or result.wrong)
    message = {
        "FAIL": wrong,
        "as before": f"fails as before: {wrong}",
        "known bug": f"known bug: {wrong}",
    }.get(result.outcome, result.why)
    return f"{message} (see {result.said_at})" if message and result.said_at else message


def _text(result: CaseResult) -> str:
    passes = {"fixed": "known_bug is its verdict, and it passes", "ok": "it was wrong before" if result.better else ""}
    passes["not seen"] = f"known_bug is its verdict; {NOT_SEEN}"
    said = [passes.get(result.outcome, ""), f"see {result.said_at}" if result.said_at else ""]
    said.append(f"uploaded to {result.link}" if result.link else "")
    return "\n".join([*result.details, *[line for line in said if line]])
