"""Checks that every character of the output is accounted for: no text is lost, and no call.

Where a parser says where its text comes from, its partition and segments are examined. For a black box only the weak
form is possible: every word of the output outside markers must turn up in the message, and every whole call to a
declared tool that the built-in parser of its format finds. What comes after a failure of the parser is that failure's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from html import unescape
from itertools import islice, zip_longest
from unicodedata import normalize

from parsers.checks.check import LIMIT, Need, any_of, check
from parsers.checks.departures import moved
from parsers.checks.json_text import Node, read_object, walk
from parsers.checks.known import Fact, Origin
from parsers.checks.leaks import begins_call, is_marker
from parsers.checks.origins import false_copies, is_sound
from parsers.checks.plain_end import unsent
from parsers.checks.prose import TAG, lost_prose
from parsers.checks.spaces import squeezed
from parsers.checks.spelled import apart
from parsers.checks.subject import Subject
from parsers.compare.divergence import excerpt
from parsers.vocabulary.channels import CONTENT, Channel, channel_of, message_texts
from parsers.vocabulary.drops import LOST, UNSAID, Cause, DropReason
from parsers.vocabulary.events import Severity
from parsers.vocabulary.stretches import Place
from parsers.vocabulary.trace import About, Finding, RejectedCall, Topic, Trace
from parsers.vocabulary.types import Message, Span, ToolCall
from parsers.vocabulary.words import counted, quoted

_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,4})?")
_WORD = re.compile(rf"(?<![\w.])(?:{_NUMBER.pattern})(?![\w.])|\w+")
_TOKEN = re.compile(r"<[|｜][^<>|｜\s]*[|｜]>")  # the usual spelling of a special token, whoever's it is
_REFERENCE = re.compile(r"&#?(\w{1,32});")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_PAIR = re.compile(r"(?<!\w)(\w+)(\s+)(?=(\w+))")
_ENDS = frozenset(".!?…。\uff01\uff1f")
_BEGUN = re.compile(r"</?[|｜]?\w{0,40}")  # of a marker that nothing ends
_LONG = 4  # a shorter word stands in another one by chance
_MANY = 4  # so many lost words at the end of an answer are no matter of how a word is spelled
_SPOKEN = 4  # so many words of prose may stand for no answer, as `Nothing to say.`
_FEW = 20  # so many lost words are looked for among those that are joined
ROUNDED = "digits beyond double precision are lost"
# Words of the envelope around calls in the known formats, and literals whose spelling JSON changes.
_ENVELOPE = frozenset(("name", "arguments", "parameters", "parameter", "function", "functions", "invoke", "id", "type"))
_ENVELOPE |= {"action", "call", "string", "tool", "tool_call", "tool_calls", "value", "none", "null", "true", "false"}


@check("A1", "Every character of the output goes to one place; nothing is lost.", needs=(Need.RAW,))
def _spans_cover_input(subject: Subject) -> Iterator[Finding]:
    if _is_all_lost(subject):
        return
    if not subject.black_box:
        yield from (*_lost(subject), *_false_copies(subject.trace), *_dropped(subject))
    elif subject.failed_at is None:
        yield from _lost_words(subject)


@check(
    "A2",
    "An output with text in it does not give an empty message.",
    needs=(Need.FINISHED, Need.RAW),
    word="all_output_lost",
)
def _all_output_lost(subject: Subject) -> Iterator[Finding]:
    if not _is_all_lost(subject):
        return
    trace, text = subject.trace, subject.trace.text
    within = trace, len(text) - len(text.lstrip()), len(text)
    dropped = [run for run in trace.partition if run.owner == "dropped" and run.reason != LOST]
    if not dropped:
        message = "The whole output is lost: the message is empty."
        sure = subject.known.has(Fact.GRAMMAR) or next(islice(lost_prose(text, ()), _SPOKEN, None), None) is not None
        severity: Severity = "error" if sure else "warning"  # all of it may be a word that stands for no answer
        yield _all_output_lost.finding(message, severity=severity, within=within, actual=text)
        return
    reason = dropped[0].reason or UNSAID
    message, policy = f"The message is empty: {reason.words}.", subject.contract(reason.policy)
    yield _all_output_lost.finding(
        message, severity="warning", about="output", within=within, actual=text, policy=policy
    )


def _is_all_lost(subject: Subject) -> bool:
    trace, message = subject.trace, subject.trace.message
    if message.content or message.reasoning or message.tool_calls or subject.failed_at is not None:
        return False
    if subject.builtin.trace is not None:
        return any(text.strip() for text in _wanted(subject, subject.builtin.trace))
    if subject.black_box:
        bare = _markup(subject).sub(" ", trace.text)
        unknown = subject.known.grammar is Origin.UNKNOWN
        return _WORD.search(TAG.sub(" ", bare) if unknown else bare) is not None
    specials = any_of([*subject.tokens.special, *subject.grammar.end_tokens])
    dropped = [trace.text[run.start : run.end] for run in trace.partition if run.owner == "dropped"]
    return any(specials.sub("", text).strip() for text in dropped)


def _markup(subject: Subject) -> re.Pattern[str]:
    """Whatever of an output is no text: the markers of the format and special tokens."""
    grammar = subject.grammar
    return any_of([*grammar.terminals.values(), *subject.tokens.special, *grammar.end_tokens])


def _lost(subject: Subject) -> Iterator[Finding]:
    trace, failed = subject.trace, subject.failed_at
    # What a failing parser held goes down with it, so a run that reaches the failure is told of there.
    runs = [run for run in trace.partition if run.reason == LOST and (failed is None or run.end < failed)]
    for run in runs[:1]:
        more = f" ({len(runs)} places in all)" if len(runs) > 1 else ""
        message = f"Characters {run.start} to {run.end} of the output were lost{more}."
        yield _spans_cover_input.finding(message, within=(trace, run.start, run.end))


def _false_copies(trace: Trace) -> Iterator[Finding]:
    for step, event, part in islice(false_copies(trace), 1):
        yield _spans_cover_input.finding(
            f"`{channel_of(event)}` claims to copy characters {part.start} to {part.end} of the output, which read"
            " differently.",
            topic=Topic.ADDITION,
            step=step,
            span=Span(part.start, part.end),
            expected=trace.text[part.start : part.end],
            actual=part.text,
        )


def _is_separator(reason: DropReason | None, text: str) -> bool:
    """Return whether dropped text is what Llama models write between two calls."""
    return reason is not None and reason.cause is Cause.SEPARATOR_AT_CALL and text == ";"


def _dropped(subject: Subject) -> Iterator[Finding]:
    trace, specials = subject.trace, any_of(subject.tokens.special)
    places: dict[DropReason, list[tuple[int, int]]] = {}
    for run in trace.partition:
        solid = specials.sub("", trace.text[run.start : run.end]).strip()
        separates = _is_separator(run.reason, solid) and run.end < len(trace.text.rstrip())
        if run.owner == "dropped" and run.reason != LOST and solid and not separates:
            places.setdefault(run.reason or UNSAID, []).append((run.start, run.end))
    for reason, [(start, end), *others] in places.items():
        more = f" and {len(others)} more places" if others else ""
        yield _spans_cover_input.finding(
            f"Characters {start} to {end} of the output{more} reach nobody: {reason.words}.",
            severity="warning",
            about="output",
            within=(trace, start, end),
            policy=subject.contract(reason.policy),
        )


def _lost_words(subject: Subject) -> Iterator[Finding]:
    """The weak form: the first word of the output that the message does not hold, else the first sign."""
    trace, reference = subject.trace, subject.builtin.trace
    end = _lost_end(subject) or _unsent(subject)
    if end is not None and end.severity != "info":
        yield end
        return
    sent = _words(message_texts(trace.message).values())
    known = sent | _ENVELOPE | _words(subject.renamed.values())
    bare = _unescaped(_TOKEN.sub(" ", _markup(subject).sub(" ", trace.text)))
    words = [*lost_prose(bare, known)] if reference is None and _is_any_grammar(subject) else _WORD.findall(bare)
    lost = [word for word in words if word.casefold() not in known]
    values = {_value(word): word for word in sent}
    gone = set(lost)
    references = {name: said for name, said in _references(subject) if name in gone}
    yield from islice(_decoded(subject, references), 1)
    lost = [word for word in lost if word not in references]
    yield from islice(_written_otherwise(subject, lost, values), 1)
    lost = [word for word in lost if _value(word) is None or _value(word) not in values]
    yield from islice(_rounded(subject, lost, values), 1)
    doubles = {*map(_double, values.values())}
    lost = [word for word in lost if _value(word) is None or _double(word) not in doubles]
    if reference is not None:
        wanted = _words(_wanted(subject, reference))
        lost = [word for word in lost if word.casefold() in wanted]
    else:  # the call that stood between two words may be gone, and they are one
        blank = next(iter(_joined_words(subject, bare, lost)), None)
        if blank is not None:
            yield blank
            return
        joined = "\n".join(message_texts(trace.message).values()).casefold()
        lost = [word for word in lost if len(word) < _LONG or word.casefold() not in joined]
    if not lost:
        yield from () if references else _lost_signs(subject)
        yield from () if end is None else [end]
        return
    start = _place_of(lost[0], trace.text)
    more = f" ({counted(len(lost), 'word')} in all)" if len(lost) > 1 else ""
    rest = _lost_rest(subject) if len(lost) >= _MANY else None
    if rest is not None:
        yield rest
        return
    yield _spans_cover_input.finding(
        f"The word `{lost[0]}` of the output is nowhere in the message{more}.",
        severity="warning",
        step=None if start < 0 else trace.step_at(start),
        span=None if start < 0 else Span(start, start + len(lost[0])),
        actual=excerpt(trace.text, max(start, 0)),
    )


def _unsent(subject: Subject) -> Finding | None:
    """What is missing of a plain answer where nobody knows the grammar."""
    trace, known = subject.trace, subject.known
    if subject.server.plays or known.grammar is not Origin.UNKNOWN:
        return None
    found = unsent(trace.text, trace.message, subject.beginnings, [*subject.tokens.special])
    if found is None:
        return None
    about: About = "output" if found.severity == "info" else "parser"
    return _spans_cover_input.finding(
        found.words, severity=found.severity, about=about, within=(trace, found.start, found.end)
    )


def _lost_end(subject: Subject) -> Finding | None:
    """The end of a plain answer of which all else is sent as it stands, where no server has a reason to hold it back:
    no marker stands there, though one may begin."""
    trace, reference, message = subject.trace, subject.builtin.trace, subject.trace.message
    if message.tool_calls or subject.allowed is not None:
        return None
    if reference is not None:
        rest = None if reference.rejected_calls else _lost_rest(subject)
        text = "" if rest is None or rest.span is None else trace.text[rest.span.start : rest.span.end]
        return rest if _is_plain(subject, text) else None
    given = (message.content or "").rstrip()
    start = len(given) + len(trace.text[len(given) :]) - len(trace.text[len(given) :].lstrip())
    lost = trace.text[start:].rstrip()
    sure = subject.known.grammar is not Origin.UNKNOWN or _BEGUN.fullmatch(lost)
    if not (given and lost and sure) or message.reasoning or not trace.text.startswith(given):
        return None
    if not _is_plain(subject, trace.text[len(given) :]):  # with its blanks: a marker may begin or end with some
        return None
    words = f"The end of the answer is lost: {quoted(lost)} is nowhere in the message."
    return _spans_cover_input.finding(words, within=(trace, start, start + len(lost)))


def _is_any_grammar(subject: Subject) -> bool:
    """Return whether no more than markers are known of the grammar: what stands between them may be markup, too."""
    return subject.black_box and subject.known.grammar is not Origin.BUILTIN


def _is_plain(subject: Subject, text: str) -> bool:
    """Return whether no marker, of the format or of another, is in a text."""
    return bool(text) and not (_markup(subject).search(text) or TAG.search(text))


def _lost_rest(subject: Subject) -> Finding | None:
    """All that is behind one place of a plain answer, where the built-in parser keeps it and nothing else differs."""
    reference, message = subject.builtin.trace, subject.trace.message
    if reference is None or message.tool_calls or reference.message.tool_calls:
        return None
    wanted, given = reference.channels[CONTENT], (message.content or "").rstrip()
    if squeezed(message.reasoning) != squeezed(reference.message.reasoning) or not wanted.text.startswith(given):
        return None
    at = len(given) + len(wanted.text[len(given) :]) - len(wanted.text[len(given) :].lstrip())
    size, place = len(wanted.text.rstrip()) - at, wanted.place(at)
    return _spans_cover_input.finding(
        f"The end of the answer is lost, {counted(size, 'character')} from {place.words(at, 'it')} on;"
        f" the built-in parser `{reference.parser}` keeps them.",
        step=None if place.raw is None else subject.trace.step_at(place.raw),
        span=place.span(size),
        expected=excerpt(wanted.text, at),
        actual=excerpt(message.content or "", at),
    )


def _references(subject: Subject) -> Iterator[tuple[str, re.Match[str]]]:
    """The words inside character references of the output that are sent as the characters they stand for."""
    sent = "\n".join(message_texts(subject.trace.message).values())
    decoded: dict[str, bool] = {}  # each spelling is looked for once, in all that was sent
    for match in _REFERENCE.finditer(subject.trace.text):
        written = match.group()
        if written not in decoded:
            decoded[written] = written not in sent and unescape(written) in sent
        if decoded[written]:
            yield match.group(1), match


def _decoded(subject: Subject, references: Mapping[str, re.Match[str]]) -> Iterator[Finding]:
    """A note, for formats and servers differ in whether text between tags is escaped."""
    for match in references.values():
        written, start = match.group(), match.start()
        yield _spans_cover_input.finding(
            f"The `{written}` of the output is sent as `{unescape(written)}`: character references are decoded.",
            topic=Topic.VALUE,
            severity="info",
            about="output",
            at=Place(start, subject.trace.step_at(start)),
            length=len(written),
            expected=written,
            actual=unescape(written),
        )


def _place_of(word: str, text: str) -> int:
    """Where a word first stands by itself, else where its letters do; -1 where they do not."""
    return next((found.start() for found in _WORD.finditer(text) if found[0] == word), text.find(word))


def _written_otherwise(subject: Subject, lost: Iterable[str], sent: Mapping[Decimal | None, str]) -> Iterator[Finding]:
    """Numbers whose value is sent, spelled in another way."""
    for word in lost:
        value = _value(word)
        if value is not None and value in sent:
            start = _place_of(word, subject.trace.text)
            yield _spans_cover_input.finding(
                f"The number `{word}` of the output is sent as `{sent[value]}`: the value is the same.",
                topic=Topic.VALUE,
                severity="info",
                about="output",
                at=None if start < 0 else Place(start, subject.trace.step_at(start)),
                length=len(word),
                expected=word,
                actual=sent[value],
            )


def _rounded(subject: Subject, lost: Iterable[str], sent: Mapping[Decimal | None, str]) -> Iterator[Finding]:
    """Numbers that are sent as a double holds them, which has not all of their digits."""
    doubles = {_double(word): word for value, word in sent.items() if value is not None}
    for word in lost:
        if _value(word) is not None and (other := doubles.get(_double(word))) is not None:
            start = _place_of(word, subject.trace.text)
            yield _spans_cover_input.finding(
                f"The number `{word}` of the output is sent as `{other}`: {ROUNDED}.",
                topic=Topic.VALUE,
                severity="warning",
                at=None if start < 0 else Place(start, subject.trace.step_at(start)),
                length=len(word),
                expected=word,
                actual=other,
            )


def _double(word: str) -> float | None:
    """The number that a program with doubles makes of a word; None where it is none."""
    value = _value(word)
    return None if value is None else float(value)


def _joined_words(subject: Subject, bare: str, lost: Sequence[str]) -> Iterator[Finding]:
    """Words that stand in the message without the blank that parts them from their neighbours in the output."""
    texts = [text.casefold() for text in message_texts(subject.trace.message).values()]
    gone = {word.casefold() for word in lost[:_FEW]}
    beside = (pair for pair in _PAIR.finditer(bare) if not gone.isdisjoint(map(str.casefold, pair.group(1, 3))))
    for match in islice(beside, _FEW):
        parted, pair = "".join(match.groups()), f"{match[1]}{match[3]}"
        start = subject.trace.text.find(parted)  # what is no blank there may stand between them
        if start >= 0 and any(pair.casefold() in text for text in texts):
            yield _spans_cover_input.finding(
                f"White space of the output is lost: {quoted(parted)} is sent as {quoted(pair)}.",
                topic=Topic.CHANGE,
                severity="warning",
                step=subject.trace.step_at(start),
                span=Span(start, start + len(parted)),
                expected=parted,
                actual=pair,
            )


def _value(word: str) -> Decimal | None:
    """The value of a number, however it is spelled; None for another word."""
    return Decimal(word) if _NUMBER.fullmatch(word) else None


def _lost_signs(subject: Subject) -> Iterator[Finding]:
    """Signs that are no words, where the content of a black box is that of the built-in parser without some of them;
    without one, where it is the whole output without some that end sentences."""
    trace, reference, markup = subject.trace, subject.builtin.trace, _markup(subject)
    if reference is None:
        yield from _lost_ends(subject)
        return
    if reference.rejected_calls or moved(subject):
        return
    wanted, given = reference.channels[CONTENT], trace.message.content or ""
    if markup.search(wanted.text) or markup.search(given):
        return
    lost = _left_out(wanted.text, given)
    if lost:
        yield _lost_sign(subject, wanted.text, lost, wanted.place(lost[0]))


def _lost_ends(subject: Subject) -> Iterator[Finding]:
    """Any other sign may be markup, where nobody knows the grammar."""
    trace, message = subject.trace, subject.trace.message
    if message.tool_calls or message.reasoning:
        return
    markup = _markup(subject)
    text, given = (markup.sub(_blanks, one) for one in (trace.text, message.content or ""))
    lost = _left_out(text, given)
    if lost and all(trace.text[at] in _ENDS for at in lost):
        yield _lost_sign(subject, trace.text, lost, Place(lost[0], trace.step_at(lost[0])))


def _blanks(marker: re.Match[str]) -> str:
    return " " * len(marker.group())


def _left_out(wanted: str, given: str) -> list[int]:
    """Where the characters stand, blanks apart, that one text has and the other has not; none where it has others."""
    left, met, lost = "".join(given.split()), 0, list[int]()
    for offset, char in enumerate(wanted):
        if char == left[met : met + 1]:
            met += 1
        elif not char.isspace():
            lost.append(offset)
    return lost if met == len(left) else []


def _lost_sign(subject: Subject, wanted: str, lost: Sequence[int], place: Place) -> Finding:
    more = f" ({counted(len(lost), 'character')} in all)" if len(lost) > 1 else ""
    return _spans_cover_input.finding(
        f"The `{wanted[lost[0]]}` of the output is nowhere in the content{more}.",
        severity="warning",
        step=None if place.raw is None else subject.trace.step_at(place.raw),
        span=place.span(),
        expected=excerpt(wanted, lost[0]),
        actual=excerpt(subject.trace.message.content or "", lost[0]),
    )


def _wanted(subject: Subject, reference: Trace) -> list[str]:
    """Return what the built-in parser of a black box's format delivers, but for calls that a server may refuse, and for
    what differs by white space alone."""
    message, given = reference.message, subject.trace.message
    content = _unrefused(subject, reference) if reference.rejected_calls else message.content
    texts = [(content, given.content), (message.reasoning, given.reasoning)]
    sound = [call for call in message.tool_calls if is_sound(subject, call)]
    mine = given.tool_calls if len(given.tool_calls) == len(sound) else []
    texts += list(zip_longest(map(_kept_text, sound), map(_call_text, mine)))
    return [right or "" for right, wrong in texts if squeezed(right) != squeezed(wrong)]


def _kept_text(call: ToolCall) -> str:
    """The text of a whole call as most readers keep it: of a key that is given twice, the last value."""
    dropped: list[Node] = []
    for node in walk(read_object(call.arguments)):
        last = {member.key: member for member in node.members}
        dropped += [member.value for member in node.members if last[member.key] is not member]
    kept, at = [call.name], 0
    for value in sorted(dropped, key=lambda value: value.start):
        kept.append(call.arguments[at : value.start])
        at = max(at, value.end)
    return " ".join([*kept, call.arguments[at:]])


def _unrefused(subject: Subject, reference: Trace) -> str:
    """The words of the content that stand outside calls that were begun and are none."""
    text, at, kept = subject.trace.text, 0, list[str]()
    for call in reference.rejected_calls:
        kept.append(text[at : call.start])
        at = max(at, _refused_to(subject, call))
    outside = _words([" ".join([*kept, text[at:]])])
    return " ".join([word for word in _WORD.findall(reference.message.content or "") if word.casefold() in outside])


def _refused_to(subject: Subject, call: RejectedCall) -> int:
    """How far a server that reads no call there may take its text for one."""
    text, pattern = subject.trace.text, _markup(subject)
    opener = pattern.match(text, call.start)
    if opener is not None and call.name is None and not begins_call(text, opener.end()):
        return call.end
    following = pattern.search(text, call.end)
    return len(text) if following is None else following.start()


def _call_text(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}"


def _words(texts: Iterable[str]) -> set[str]:
    """The words of some texts, with letters and accents as they stand, joined and apart."""
    forms = {form for text in map(_unescaped, texts) for form in (text, apart(text), normalize("NFC", text))}
    return {word.casefold() for form in forms for word in _WORD.findall(form)}


def _unescaped(text: str) -> str:
    """`text` with its JSON escapes undone, so that raw and re-written text read alike."""
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)) if match.group(1) else " ", text)


@check(
    "L6",
    "A call that the output begins with a marker of the format is found.",
    severity="warning",
    about="output",
    needs=(Need.TOOLS, Need.FINISHED, Need.RAW),
    word="tool_call_dropped",
)
def _tool_call_dropped(subject: Subject) -> Iterator[Finding]:
    trace = subject.trace
    if subject.request.tool_choice == "none":
        return
    if subject.builtin.trace is not None:
        yield from islice(_missed(subject, subject.builtin.trace), LIMIT)
    elif not subject.calls:
        markers = tuple(literal for literal in subject.grammar.terminals.values() if is_marker(literal))
        begun = [call for call in trace.rejected_calls if trace.text.startswith(markers, call.start)]
        for call in begun[:1]:
            where = f"at character {call.start} of the output"
            message = f"A call begins {where}, but none can be read there: {call.reason.words}."
            at_end = "truncated_call" if call.end == len(trace.text) else None
            policy = subject.contract(call.reason.policy or at_end)
            yield _tool_call_dropped.finding(message, within=(trace, call.start, call.end), policy=policy)


def _missed(subject: Subject, reference: Trace) -> Iterator[Finding]:
    """Calls of declared tools that the built-in parser finds whole and this one does not find at all."""
    left, wanted = Counter(call.name for call in subject.calls), Counter[str]()
    for index, call in enumerate(reference.message.tool_calls):
        left[call.name] -= 1
        wanted[call.name] += 1
        place = reference.channels[Channel(index, "name")].place(0)
        is_told = index in subject.renamed or left[call.name] >= 0
        if is_told or not is_sound(subject, call) or _is_shown(subject, place.raw or 0):
            continue
        other = _found_elsewhere(subject, call.name, wanted[call.name])
        words = "is not found" if other is None else "is not found with this chunking, and is with others"
        yield _tool_call_dropped.finding(
            f"The call to `{call.name}` {words}; the built-in parser `{reference.parser}` reads it whole.",
            topic=Topic.LOSS if other is None else Topic.CHUNKS,
            severity="error",
            about="parser",
            policy=None if other is None else subject.allowed_between(other, subject.trace.message),
            step=None if place.raw is None else subject.trace.step_at(place.raw),
            span=place.span(len(call.name)),
            expected=call.arguments,
        )


def _found_elsewhere(subject: Subject, name: str, wanted: int) -> Message | None:
    """The message of another chunking that has so many calls of a name: that this one lacks it is a matter of cuts."""
    others = (trace.message for _, trace in subject.replays.compared if not trace.failure)
    return next((one for one in others if sum([call.name == name for call in one.tool_calls]) >= wanted), None)


def _is_shown(subject: Subject, raw: int) -> bool:
    """Return whether a call stands in a block of code, where it may be an example, or in reasoning, where it may be a
    plan."""
    text = subject.trace.text
    if text.count("```", 0, raw) % 2:
        return True
    closer = any_of(subject.grammar.closers).search(text, raw)
    opener = any_of(subject.grammar.openers).search(text, raw)
    return closer is not None and (opener is None or closer.start() < opener.start())
