"""Entered engines as cases name them: chosen, fed, searched, here or by way of another process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import choose as choose_among
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.cases.patience import ENGINE_SECONDS
from parsers.cases.run import run_case
from parsers.replays.chunking import DEFAULT_COMPARED, WHOLE, Chunking, apply
from parsers.replays.ran_lines import LinesAsked, RanLines, Sought
from parsers.replays.tapes import Asked, Tape
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece, UsageError
from tests.webapp.engines.entering import fake, own
from tests.webapp.engines.fake_engine import hello
from webapp.children.endings import ChildError
from webapp.engines import ENGINES, choose, engines_of
from webapp.engines.entered import (
    Engines,
    SharedEngines,
    answer,
    engine_reply,
    entered,
    entered_parsers,
    use_engines,
)
from webapp.engines.entries import Entry, keep_card, write_entry
from webapp.engines.foreign import FIRST_OWN_ID, engine_for
from webapp.engines.protocol import Card, Replayed, read_card
from webapp.settings import Settings, get_settings

TEXT = "Hi <tool_call>!"
CALL = 'Hi<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    found = Settings(data_dir=tmp_path)
    write_entry(found, "fake", fake())
    use_engines(found)
    yield found
    use_engines(get_settings())


def case(name: str = "echo", engine: str = "fake", **more: Any) -> Case:
    parser = {"name": name, "engine": engine, **more.pop("parser", {})}
    return load_case({"schema": 1, "parser": parser, **{"input": {"text": TEXT}, **more}})


def card(**changes: Any) -> Card:
    return read_card({**hello([]), **changes})


class Listening:
    """Engines that answer nothing and keep what they are asked."""

    def __init__(self, **changes: Any) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.took = 0.0  # seconds of a replay
        self._card = card(**changes)

    def card(self, name: str) -> Card:
        return self._card

    def timed(self, name: str, run: Mapping[str, Any]) -> tuple[list[Replayed], float]:
        self.asked.append(run)
        return [Replayed(sent=[None] * (len(deltas) + 1)) for deltas in run["replays"]], self.took * len(run["replays"])

    def lines(self, name: str, run: Mapping[str, Any]) -> RanLines:
        self.asked.append(run)
        return RanLines()


def chosen(given: Case, **changes: Any) -> Any:
    listening = Listening(**changes)
    engines = {**ENGINES, "fake": engine_for("fake", listening)}
    return choose_among(given, None, engines), listening


def test_a_case_is_run_by_an_entered_engine(settings: Settings) -> None:
    run = run_case(case("upper"), engines=engines_of(settings))
    assert run.trace.message.content == TEXT.upper()
    assert run.whole.message.content == TEXT
    assert run.selection.reasons[0] == "fake 1.0 runs its own parser upper, in a process of its own."
    assert "chunking" not in {finding.check for finding in run.findings}


@pytest.mark.parametrize(("took", "many"), [(0.01, None), (4.0, 2), (30.0, 1)])
def test_chunkings_that_a_slow_engine_has_no_time_for_are_said_as_not_run(took: float, many: int | None) -> None:
    listening, all_of_them = Listening(), len(DEFAULT_COMPARED) - 1
    listening.took = took
    run = run_case(case("upper"), engines={**ENGINES, "fake": engine_for("fake", listening)})
    made = all_of_them if many is None else many
    words = f"{all_of_them - made} of {all_of_them} other chunkings were not run"
    said = [one for one in run.trace.reasons if "were not run" in one]
    assert [one.partition(":")[0] for one in said] == [words] * (many is not None)
    replays = sum([len(asked["replays"]) for asked in listening.asked])
    assert len(run.compared) == made
    assert many is None or took * replays <= ENGINE_SECONDS + 4 * took


def test_what_it_raises_is_a_finding_at_its_step(settings: Settings) -> None:
    run = run_case(case("raises"), engines=engines_of(settings))
    (found,) = [one for one in run.findings if one.check == "parser_raised"]
    assert (found.step, "ValueError: no !" in found.message) == (len(TEXT), True)
    last = run.trace.steps[len(TEXT) - 1]
    assert [getattr(event, "code", "") for event in last.events] == ["parser_raised"]


@pytest.mark.parametrize(("name", "words"), [("crashes", "Crashed: its process ended"), ("babbles", "Garbled")])
def test_what_kills_it_is_a_finding_as_well(settings: Settings, name: str, words: str) -> None:
    run = run_case(case(name), engines=engines_of(settings), compare=False)
    (found,) = [one for one in run.findings if one.check == "parser_raised"]
    assert (found.step, words in found.message) == (len(TEXT), True)


@pytest.mark.replays
def test_where_a_worker_tells_no_steps_the_failure_has_no_place(settings: Settings) -> None:
    write_entry(settings, "quiet", fake("silent"))
    search = CaseSearch(case("crashes", "quiet"), engines=engines_of(settings), max_replays=20)
    assert list(search.run())
    found = search.result().found
    assert f" with {UNKNOWN_STEP}." in found.verdict.headline
    assert ("on the delta" in found.verdict.headline, found.verdict.span) == (False, None)
    (told,) = [one for one in found.findings if one.check == "parser_raised"]
    survived = "A beginning of 14 deltas alone is survived, and one of 15 is not"
    assert told.message == f"The parser failed at a step that is not known: {UNKNOWN_STEP}. {survived}"
    assert (told.step, told.span) == (None, None)


UNKNOWN_STEP = "Crashed: its process ended (exit code 3); at which step is not known, for its worker told of none"


def test_a_name_that_is_not_entered_is_told_with_those_that_are(settings: Settings) -> None:
    with pytest.raises(UsageError, match=r"engine 'nope' is not available here; available: .*, fake"):
        choose(case(engine="nope"))
    with pytest.raises(UsageError, match="engine 'nope' is not entered here; entered: fake"):
        entered(settings).play("nope", {})


def test_engines_of_ours_need_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.engines.engines_entered", lambda settings: 1 / 0)
    plain = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}})
    assert choose(plain).format.name == "qwen"


def test_an_engine_is_asked_once_who_it_is(settings: Settings) -> None:
    found = entered(settings)
    first = found.card("fake")
    host = found._host("fake", found.entries()["fake"])
    assert host.pid is not None
    assert (found.card("fake"), found.listed()["fake"]) == (first, first)
    assert "fake:echo" in [one.name for one in entered_parsers()]
    assert Engines(settings).card("fake") == first  # by what was written down


def test_another_process_hears_of_a_card_that_was_written(settings: Settings) -> None:
    here, there = Engines(settings), SharedEngines(settings, partial(answer, entered(settings)))
    first = here.card("fake")
    older = first.model_copy(update={"version": "0.1"})
    keep_card(settings, "fake", here.entries()["fake"], older)
    assert (here.card("fake"), there.card("fake")) == (older, older)
    stamp = here.stamp("fake")
    assert (there.renew("fake"), here.card("fake"), here.stamp("fake") != stamp) == (first, first, True)


def test_an_engine_is_started_anew_to_be_asked_again_and_where_its_version_is_another_one(settings: Settings) -> None:
    found = entered(settings)
    pids = list[int | None]()

    def at_work() -> None:
        found.play("fake", {"parser": "echo", "replays": [[]]})
        pids.append(found._host("fake", found.entries()["fake"]).pid)

    found.card("fake")
    at_work()
    found.renew("fake")
    at_work()
    newer = found.card("fake").model_copy(update={"version": "9"})
    keep_card(settings, "fake", found.entries()["fake"], newer)
    at_work()
    assert len({*pids, None}) == 4


def test_an_entry_that_was_changed_is_another_engine(settings: Settings) -> None:
    found = entered(settings)
    found.play("fake", {"parser": "echo", "replays": [[]]})
    pid = found._host("fake", found.entries()["fake"]).pid
    write_entry(settings, "fake", fake(memory=301))
    found.play("fake", {"parser": "echo", "replays": [[]]})
    assert found._host("fake", found.entries()["fake"]).pid not in (pid, None)


def test_a_file_that_cannot_be_used_lists_nothing(settings: Settings) -> None:
    (settings.data_dir / "engines.toml").write_text("[")
    assert entered_parsers() == []


def test_another_process_may_have_the_workers(settings: Settings) -> None:
    owner = entered(settings)
    shared = SharedEngines(settings, partial(answer, owner))
    (settings.data_dir / "engines").mkdir(exist_ok=True)
    assert shared.card("fake").name == "fake"
    (one,) = shared.play("fake", {"parser": "echo", "replays": [[["a"]]]})
    assert [None if sent is None else sent.content for sent in one.sent] == ["a", None]
    assert shared.spent == owner.spent > 0


def test_nobody_pays_for_what_others_ask(settings: Settings) -> None:
    owner = entered(settings)
    run = {"parser": "echo", "replays": [[["a"]]]}
    with ThreadPoolExecutor(4) as pool:
        spent = [one.result()[1] for one in [pool.submit(owner.timed, "fake", run) for _ in range(8)]]
    assert min(spent) > 0
    assert sum(spent) == pytest.approx(owner.spent)


def test_lines_are_told_by_the_other_process_as_well(settings: Settings) -> None:
    write_entry(settings, "own", own("Sender", **{"class": "line_parsers:Sender"}))
    owner = entered(settings)
    asked = {"parser": "Sender", "request": {}, "replays": [[["ab"]]], "observe": "lines", "step": 1, "sought": "ab"}
    found = SharedEngines(settings, partial(answer, owner)).lines("own", asked)
    assert [one.name for one in found.functions] == ["Sender.feed"]
    assert found.lines[found.sent_from or 0].returned == "{'content': 'ab'}"


def test_what_it_refuses_is_refused_over_there(settings: Settings) -> None:
    assert "not entered here" in engine_reply({"do": "card", "name": "nope"})["refused"]
    assert engine_reply({"do": "card", "name": "fake"})["card"]["name"] == "fake"


def test_for_somebody_who_is_gone_no_engine_is_asked(settings: Settings) -> None:
    run = {"parser": "echo", "replays": [[["a"]]]}
    with pytest.raises(ChildError, match="cancelled"):
        engine_reply({"do": "play", "name": "fake", "run": run}, lambda: True)
    assert entered(settings).known("fake").health is None


def test_entries_of_the_command_line_are_beside_those_of_the_file(settings: Settings) -> None:
    use_engines(settings, more={"own": Entry(command=("x",))})
    assert [*engines_of(settings)][-2:] == ["fake", "own"]


@pytest.mark.parametrize("kinds", [{"one": "tool", "r1": "reasoning", "r2": "reasoning"}, {"one": "reasoning"}])
def test_an_engine_with_one_parser_is_asked_for_it_without_its_name(kinds: dict[str, str]) -> None:
    parsers = [{"name": name, "kind": kind} for name, kind in kinds.items()]
    assert chosen(case("auto"), parsers=parsers)[0].selection.name == "one"


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        (case("nope"), "/parser/name", "fake has no parser 'nope'; it has 19, such as"),
        (case("auto"), "/parser/name", "name a parser of fake (as --engine fake:PARSER): echo"),
        (case(parser={"policy": {"unknown_tool": "drop"}}), "/parser/policy", "they take no policies"),
        (case(parser={"options": {"x": 1}}), "/parser/options/x", "there is no option 'x'"),
        (case(parser={"options": {"reasoning_parser": "y"}}), "/parser/options/reasoning_parser", "it has thinks"),
    ],
)
def test_what_an_engine_cannot_run_has_its_place(given: Case, place: str, words: str) -> None:
    with pytest.raises(CaseError) as caught:
        chosen(given)
    assert (caught.value.pointer, words in caught.value.message) == (place, True)


@pytest.mark.parametrize(
    ("parsers", "name"),
    [(["only"], "only"), (["llama3_json", "hermes", "longcat"], "hermes"), (["seed_oss", "qwen"], "qwen")],
)
def test_auto_takes_the_parser_that_reads_the_format(parsers: list[str], name: str) -> None:
    choice, _ = chosen(case("auto", input={"text": CALL}), parsers=[{"name": one} for one in parsers])
    assert choice.selection.name == name


def test_its_own_contract_and_server_count() -> None:
    choice, _ = chosen(case("echo"))
    assert (choice.contract, choice.declared.late_text, choice.declared.empty_deltas) == (
        "vllm",
        "stop_strings",
        "sent",
    )
    other, _ = chosen(case("echo"), contract="mine", whole=False, server={})
    assert (other.contract, other.one_shot, other.declared.late_text) == ("openai", None, "unknown")


def test_a_reasoning_parser_reads_first() -> None:
    choice, listening = chosen(case(parser={"options": {"reasoning_parser": "thinks"}}))
    choice.replays([Asked([Delta(1, (Piece("a"),))], Context(), ())])
    assert listening.asked[0]["reasoning_parser"] == "thinks"
    assert "behind its reasoning parser thinks" in choice.selection.reasons[0]


def asked(listening: Listening, choice: Any, *pieces: Piece, **context: Any) -> Mapping[str, Any]:
    deltas = [Delta(number, (piece,)) for number, piece in enumerate(pieces, 1)]
    (tape,) = choice.replays([Asked(deltas, Context(**context), pieces)])
    assert tape == Tape((None,) * (len(pieces) + 1))
    return listening.asked[-1]


def test_the_lines_of_a_step_are_asked_for_with_the_replay() -> None:
    choice, listening = chosen(case(), wants="text")
    replay = Asked([Delta(1, (Piece("a"),))], Context(), ())
    assert choice.lines(LinesAsked(replay, 1, Sought("a", "name", 2, 0), ("f.py", 3))) == RanLines()
    run = listening.asked[-1]
    assert {key: run[key] for key in ("replays", "observe", "step", "sought", "channel", "call", "at", "where")} == {
        "replays": [[["a"]]],
        "observe": "lines",
        "step": 1,
        "sought": "a",
        "channel": "name",
        "call": 2,
        "at": 0,
        "where": ("f.py", 3),
    }


def test_an_engine_that_wants_text_gets_no_ids() -> None:
    choice, listening = chosen(case(), wants="text")
    run = asked(listening, choice, Piece("a", 7), Piece("b"))
    assert (run["replays"], "tokens" in run, "vocabulary" in run) == ([[["a"], ["b"]]], False, False)


def test_ids_and_text_agree_whatever_was_cut() -> None:
    choice, listening = chosen(case(tokenizer={"vocab": {"<tool_call>": 5}}))
    fed = [Piece("ab", 7), Piece("<tool_call>", 5), Piece("<tool", 5), Piece("x"), Piece("")]
    choice.replays([Asked([Delta(number, (one,)) for number, one in enumerate(fed, 1)], Context(), fed[:2])])
    run = listening.asked[-1]
    (deltas,) = run["replays"]
    ids = [ids for _, ids in deltas]
    assert ids[:2] == [[7], [5]]
    assert ids[4] == []
    texts = dict(run["tokens"])
    assert [texts[one] for part in ids[2:4] for one in part] == ["<tool", "x"]
    assert min(ids[2][0], ids[3][0]) > FIRST_OWN_ID
    assert run["vocabulary"]["<tool_call>"] == 5


PARSERS = [{"name": "mistral", "kind": "tool"}]


@pytest.mark.parametrize(
    ("text", "has"), [('[TOOL_CALLS] [{"name": "f"}]', False), ("[TOOL_CALLS]f[ARGS]{}", True), ("Hi.", True)]
)
def test_an_output_of_an_older_model_comes_with_its_vocabulary(text: str, has: bool) -> None:
    choice, listening = chosen(case("mistral", input={"text": text}), parsers=PARSERS)
    assert ("[ARGS]" in asked(listening, choice, Piece(text))["vocabulary"]) == has


CUT = [Chunking(by="char"), Chunking(by="char", size=2), Chunking(by="char", size=3, holdback_chars=5)]
LATE = [Chunking(by="token", holdback_chars=held) for held in (0, 1, 2, 6, 12, 24)]
LATE += [Chunking(by="token", size=3, holdback_chars=4), Chunking(by="token", text_delay=2)]


def fed_ids(replay: list[list[Any]]) -> list[int]:
    return [one for _, ids in replay for one in ids]


@pytest.mark.parametrize("recorded", [False, True], ids=["made", "recorded"])
@pytest.mark.parametrize("numbered", [False, True], ids=["without ids", "with ids"])
def test_an_output_is_fed_the_same_ids_alone_and_with_others_however_late_its_text_is(
    numbered: bool, recorded: bool
) -> None:
    texts = ["é", "<tool_call>", "\n{}", "\n", "</tool_call>", "<tool_call>", "x"]
    tokens = tuple(
        Piece(text, 70 + texts.index(text) if numbered else None, recorded=recorded and numbered) for text in texts
    )
    given = case(input={"text": "".join(texts)}, tokenizer={"vocab": {"<tool_call>": 71}} if recorded else None)
    (choice, listening), context = chosen(given), Context()
    made = [Asked(apply(one, tokens, "text"), context, tokens) for one in [*LATE, WHOLE, *CUT]]
    choice.replays(made)
    together = listening.asked[0]
    for one in made:
        choice.replays([one])
    assert [run["replays"][0] for run in listening.asked[1:]] == together["replays"]
    marker = together["vocabulary"]["<tool_call>"]
    assert len({tuple(fed_ids(replay)) for replay in together["replays"][: len(LATE) + 1 if numbered else 1]}) == 1
    assert [at for at, one in enumerate(fed_ids(together["replays"][0])) if one == marker] == [1, 5]


def test_the_rest_of_a_token_that_a_server_told_has_no_id_and_what_was_put_in_has_its_own() -> None:
    choice, listening = chosen(case())
    told = Piece("abc", 7, recorded=True)
    deltas = [Delta(1, (Piece("a", 7, recorded=True),)), Delta(2, (Piece("bc", recorded=True), Piece("new")))]
    choice.replays([Asked(deltas, Context(), [told, Piece("new")])])
    (run,) = listening.asked
    ((_, first), (_, second)) = run["replays"][0]
    assert (first, [dict(run["tokens"])[one] for one in second]) == ([7], ["new"])


def test_texts_that_would_have_one_id_have_two() -> None:
    choice, listening = chosen(case())
    alike = [Piece("plumless"), Piece("buckeroo")]  # of one CRC-32
    run = asked(listening, choice, *alike)
    assert len({one for _, ids in run["replays"][0] for one in ids}) == 2


def test_an_engine_that_does_not_stream_says_all_at_the_end() -> None:
    choice, listening = chosen(case(), streams=False)
    given = Replayed.model_validate({"sent": [{"content": "ab"}], "printed": [(1, "x")]})
    listening.timed = lambda name, run: ([given for _ in run["replays"]] if run["path"] == "whole" else [], 0.0)
    (tape,) = choice.replays([Asked([Delta(1, (Piece("a"),)), Delta(2, (Piece("b"),))], Context(), ())])
    assert (tape.sent, tape.printed, choice.one_shot) == ((None, None, MessageDelta(None, "ab")), {3: "x"}, None)
    failed = Replayed.model_validate({"sent": [], "raised": {"step": 1, "kind": "E"}})
    listening.timed = lambda name, run: ([failed], 0.0)
    (tape,) = choice.replays([Asked([Delta(1, (Piece("a"),))], Context(), ())])
    assert (tape.failed_at, tape.sent) == (2, (None,))


def test_recorded_ids_are_the_servers_own() -> None:
    choice, listening = chosen(case())
    late = Delta(2, (Piece("b", 9, recorded=True),), (9, 11))
    tokens = [Piece(text, number, recorded=True) for text, number in (("a", 7), ("b", 9), ("c", 11))]
    choice.replays([Asked([Delta(1, (tokens[0],)), late], Context(), tokens)])
    assert listening.asked[0]["replays"] == [[["a", [7]], ["b", [9, 11]]]]


def test_requests_and_paths_go_in_messages_of_their_own() -> None:
    choice, listening = chosen(case())
    one, two, fed = Context(), Context(tool_choice="none"), [Delta(1, (Piece("a"),))]
    choice.replays([Asked(fed, one, ()), Asked(fed, two, ()), Asked(fed, one, (), whole=True), Asked(fed, one, ())])
    assert [(run["path"], len(run["replays"])) for run in listening.asked] == [
        ("stream", 2),
        ("stream", 1),
        ("whole", 1),
    ]
    named = asked(listening, choice, Piece("a"), tool_choice="named", named_tool="f")
    assert named["request"]["tool_choice"] == {"type": "function", "function": {"name": "f"}}


def test_its_grammar_cuts_the_output(settings: Settings) -> None:
    from webapp.runs.prepare import prepare

    choice, _ = chosen(case("auto"), parsers=[{"name": "hermes"}])
    assert (choice.cut_by.name, choice.format.name) == ("qwen", "engine")
    prepared = prepare(case("echo", input={"text": CALL}), settings)
    assert "<tool_call>" in [piece.text for piece in prepared.stored]
    assert prepared.replayer.trace(Chunking(by="char")).message.content == CALL


BARE = '{"name": "f", "arguments": {}}'


@pytest.mark.parametrize(
    ("text", "markers", "read"),
    [
        (CALL, [], "qwen"),
        (CALL, ["<call>"], None),
        (BARE, [], "llama"),
        (f"Sure.\n<call>{BARE}</call>", [], None),
        (f"@@call {BARE}@@", [], None),
        ("Hello.", [], None),
    ],
)
def test_the_grammar_of_a_parser_without_a_known_name_is_one_whose_markers_stand_in_the_output(
    text: str, markers: list[str], read: str | None
) -> None:
    given = case("auto", input={"text": text}, parser={"markers": markers})
    choice, _ = chosen(given, parsers=[{"name": "mine"}])
    assert (None if choice.grammar is None else choice.grammar.name) == read


@pytest.mark.parametrize(
    ("context", "prompt"),
    [({}, None), ({"prompt_tail": ""}, []), ({"prompt_tail": "user\n<tool_call>"}, ["user\n", "<tool_call>"])],
)
def test_the_end_of_the_prompt_goes_along_in_tokens(context: dict[str, Any], prompt: list[str] | None) -> None:
    made, listening = chosen(case(context=context, input={"text": CALL}))
    made.replays([Asked((), Context(prompt_tail=context.get("prompt_tail")), ())])
    (run,) = listening.asked
    texts = dict(run["tokens"])
    assert (None if run["prompt_ids"] is None else [texts[one] for one in run["prompt_ids"]]) == prompt
    assert run["request"]["prompt_tail"] == context.get("prompt_tail")
    assert [run["vocabulary"][one] for one in ["<tool_call>"][: len(prompt or ()) // 2]] == (run["prompt_ids"] or [])[
        1:
    ]


@pytest.mark.parametrize(("said", "single"), [("never", True), ("sent", False), ("unknown", False)])
def test_a_server_may_send_every_token_alone(said: str, single: bool) -> None:
    made, _ = chosen(case(), server={"many_tokens": said})
    assert made.declared.single_tokens is single


def test_markers_that_stand_in_the_output_are_known_where_the_format_of_the_parser_is_not() -> None:
    made, listening = chosen(case(input={"text": "<tool_calls>[]</tool_calls>"}))
    made.replays([Asked((), Context(), ())])
    assert {"<tool_calls>", "</tool_calls>"} <= listening.asked[0]["vocabulary"].keys()
    assert "<tool_calls:opensource>" not in listening.asked[0]["vocabulary"]
