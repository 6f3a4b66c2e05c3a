"""What `find` prints for a reader: verdict, findings with the commands that show them, outcomes, the smallest case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from parsers.cases.case import Case
from parsers.cases.engines import traced_chunking
from parsers.cases.export.found_facts import SaidWrong, departing
from parsers.cases.export.replay_command import replay_command
from parsers.cases.export.shell_words import in_shell, printed
from parsers.cases.find import CaseFound
from parsers.cases.known import known_words
from parsers.cases.run import replayer_of
from parsers.replays.chunking import Chunking, label, resolved, to_json
from parsers.search.found import Found, OutcomeClass, Verdict
from parsers.search.sweep import cut_at
from parsers.vocabulary.trace import Finding, Proof
from webapp.commands.inputs import Given, shown
from webapp.commands.options import Options, given_words
from webapp.commands.report import finding_lines, finding_section, parting, severities, spanned
from webapp.commands.words import SHORT, count, literal, quoted, section, table, visible
from webapp.engines import choose
from webapp.runs.prepare import tokens_of

LONGEST = 2_000
MOST_CUTS = 200  # in a command


def find_report(result: CaseFound, given: Given, options: Options) -> str:
    """The report, without the newline at its end."""
    commands = _Commands(result.case, given.name, options)
    found = result.found
    lines = table(_head(result, given, commands))
    if not found.judged:
        return visible("\n".join(lines))
    lines += finding_section(
        found.findings, found.holding, found.skipped, most=LONGEST, more=lambda finding: _more(finding, commands)
    )
    if found.robustness:
        shown = finding_lines(found.robustness, most=LONGEST, more=lambda finding: _more(finding, commands))
        lines += section(f"robustness, by changed outputs: {severities(found.robustness)}", shown)
    lines += section(count(len(found.outcomes), "outcome"), table(_outcomes(found), "  "))
    if result.minimized is not None:
        is_of_changed = found.minimized is not None and found.minimized.of_changed
        of = "smallest case, of a changed output" if is_of_changed else "smallest failing case"
        lines += _minimized(of, result.minimized, given, options)
    return visible("\n".join(lines))


class _Commands:
    """Commands that show things of one input, with the options it was searched under."""

    def __init__(self, case: Case, name: str, options: Options) -> None:
        self._case = case
        self._name = name
        self._options = options
        choice = choose(case)
        self._replayer = replayer_of(case, choice, tokens_of(case, choice.format))

    def replay(self, proof: Proof | None) -> str | None:
        """The `replay` that shows a proof; None for endless cuts, and for a changed output that is long or made of
        recorded tokens, which no option makes. A changed output comes from a pipe, cut at the same places."""
        edits = () if proof is None else proof.edits
        replayer = self._replayer.changed(edits)
        if edits and (len(replayer.text) > LONGEST or any(piece.recorded for piece in replayer.pieces)):
            return None
        chunking = self.chunking(proof)
        deltas = replayer.deltas(chunking)
        # Tokens of another text may be others.
        cuts = to_json(cut_at(resolved(deltas)) if edits and chunking.by == "token" else chunking, deltas)
        command = replay_command(cuts, "-" if edits else self._name)
        if "--cuts" in command and len(cuts["cuts"]) > MOST_CUTS:
            return None
        context = () if proof is None else _context_words(proof.context)
        if context is None:
            return None
        options = self._options
        if proof is not None and proof.parser is not None:  # the format and policies of the other one are not for it
            options = replace(options, parser=proof.parser, format_file=None, policy=())
        line = " ".join([command, in_shell([*given_words(options), *context])]).rstrip()
        return f"{printed(replayer.text)} | {line}" if edits else line

    def chunking(self, proof: Proof | None) -> Chunking:
        """The chunking that shows a proof."""
        if proof is None or proof.chunking is None:
            return traced_chunking(self._case)
        return Chunking.model_validate(proof.chunking if proof.wrong is None else proof.wrong)


def _context_words(changed: Mapping[str, Any]) -> list[str] | None:
    """The options that change the request so; None where there is none for it."""
    words: list[str] = []
    for key, value in changed.items():
        if key in ("reasoning_open", "strict") and value is True:
            words.append(f"--{key.replace('_', '-')}")
        elif key in ("finish_reason", "tool_choice") and isinstance(value, str):
            words += [f"--{key.replace('_', '-')}", value]
        else:
            return None
    return words


def _head(result: CaseFound, given: Given, commands: _Commands) -> Iterator[list[str]]:
    found, said = result.found, said_of(result)
    yield ["input", f"{shown(given.name)}: {given.title}"]
    yield from (["", note] for note in given.notes)
    ended = "" if found.complete else "; ended before everything was tried"
    if found.judged:
        yield ["searched", f"{count(found.replays, 'replay')}, {count(len(found.outcomes), 'outcome')}{ended}"]
    yield from (["tried", sample.words] for sample in found.samples)
    if known := known_words(result.case):
        yield ["known", known]
    yield ["verdict", said.headline]
    yield from (["", ground] for ground in said.grounds)
    if found.verdict.offer is not None:
        yield ["", _offered(found.verdict)]
    elif found.verdict.proof is not None:
        yield from (["", line] for line in _proof(found.verdict.proof, commands))


def said_of(result: CaseFound) -> SaidWrong:
    """The verdict on what was searched, with what the case expects of it."""
    verdict = result.found.verdict
    return departing(SaidWrong(verdict.severity, verdict.headline, tuple(verdict.sentences)), result.departs)


def _offered(verdict: Verdict) -> str:
    """The command that replays what a verdict offers as an output; a long one has to be saved first."""
    text, proof = verdict.offer or "", verdict.proof or Proof()
    source = printed(text) if len(text) <= LONGEST else "cat output.txt"
    words = [
        "toolcall-inspector",
        "replay",
        "-",
        "--parser",
        proof.parser or "auto",
        *(_context_words(proof.context) or ()),
    ]
    return f"{source} | {in_shell(words)}"


def _more(finding: Finding, commands: _Commands) -> Iterator[str]:
    if finding.policy is not None:
        yield f"allowed by the contract: {finding.policy}"
    yield from _proof(finding.proof, commands)


def _proof(proof: Proof | None, commands: _Commands) -> Iterator[str]:
    """The command, what it changes of the output, and how that is cut; what to change by hand where there is none."""
    command = commands.replay(proof)
    if proof is not None and (command is None or proof.edits):
        for start, end, text in proof.edits:
            what = f"becomes {quoted(text, SHORT)}" if text else "is left out"
            yield f"seen where the text at characters {spanned(start, end)} {what}"
        yield from (f"seen with {key} {value}" for key, value in proof.context.items())
        if proof.edits:
            yield f'seen with the chunking "{label(commands.chunking(proof))}"'
    if command is not None:
        yield command


def _outcomes(found: Found) -> Iterator[list[str]]:
    yield ["", "replays", "honest", "assumed", "smallest", "message"]
    for one in found.outcomes:
        yield [f"{one.number}", f"{one.count:,}", f"{one.honest:,}", f"{one.assumed:,}", one.label, _difference(one)]


def _difference(one: OutcomeClass) -> str:
    if one.raised is not None:
        return f"the parser failed: {one.raised}"
    if one.divergence is None:
        return "the traced replay's" if not one.number else "the same text"
    return parting(one.divergence)


def _minimized(of: str, case: Case, given: Given, options: Options) -> list[str]:
    text = case.text()
    find = in_shell(["toolcall-inspector", "find", given.name, *given_words(options), "--json"])
    rows = [["text", literal(text, LONGEST)], ["cut", label(traced_chunking(case))]]
    rows += [["shows", note] for note in case.notes[:1]]
    rows += [["save it", f"{find} | jq .minimized > smallest.case.json"]]
    return section(f"{of}: {count(len(text), 'character')}", table(rows, "  "))
