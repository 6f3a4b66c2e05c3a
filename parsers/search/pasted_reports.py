"""The text of a bug report: who runs which server, and what goes wrong with calls, reasoning or streams.

A model writes about servers and parsers too, when it is asked for advice. What tells a report are its parts, as labels
and headings name them; words that only a report has; a question to whoever reads it; and that it is jotted down. What
tells an answer is that it speaks to somebody, explains, or says what was done. Quoted parts count for neither, and
where signs of both are there, or none, nobody can say.
"""

from __future__ import annotations

import re
from functools import cache

from parsers.formats.model import builtin_formats
from parsers.search.known_errors import known_errors
from parsers.search.markup import is_marked, marker_in
from parsers.search.pasted_json import holds_answer
from parsers.search.pasted_kinds import PROSE, Given, Pasted, Shape
from parsers.search.pasted_lines import Line, forms_of, is_sentence
from parsers.search.pasted_quotes import blocks_in, quotes_in
from parsers.search.report_words import ADVICE, EXPLAINS, FAULT, IDIOM, OFFERS, PARTS, POLITE, RUNS

_SERVER = re.compile(
    r"\b(?:vLLM|SGLang|llama[._-]?cpp|llama-server|ik_llama|Ollama|TensorRT-LLM|trt-?llm|LM ?Studio|LMDeploy|TGI"
    r"|KTransformers|LiteLLM|mlx[-_]lm|koboldcpp|text-generation-inference|Open ?WebUI|Dynamo)(?![a-z])"
    r"|--(?:tool-call-parser|reasoning-parser|enable-auto-tool-choice)\b"
    r"|\b(?:tool|reasoning)[ _-]?(?:call[ _-]?)?parser\b",
    re.IGNORECASE,
)
_PARSING = re.compile(
    r"--(?:tool-call-parser|reasoning-parser|enable-auto-tool-choice|jinja)\b|\b(?:ge)?stream\w*|werkzeugaufruf"
    r"|\bchunks?\b|\bparsers?\b"
    r"|\b(?:tool|function)[ _-]?call\w*|\bfinish_reason|\btool_choice|reasoning_content|delta\.content|\barguments?\b"
    r"|chat[ _]completions?|chat[ _]template|\btools\b|\breasoning\b|</?think>|流式|函数调用|工具调用|调用工具|解析"
    r"|ストリーム|ストリーミング|ツール呼び出し|パーサ"
    r"|스트리밍|스트림|도구 호출|потоков|стрим|вызов\w* инструмент|appels? d'outils|llamadas? a herramientas|mode flux",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?:vllm|sglang|llama\.cpp|ollama|tensorrt-llm|trt-?llm|tgi|lm ?studio)[ /:=@v-]{1,3}(?:version )?"
    r"(?:v?\d+\.\d+|latest|nightly|main)|\bv?\d+\.\d+\.\d+|\bb\d{4,5}\b",
    re.IGNORECASE,
)
# Its writer saw something, as a model does that looks into files too.
_TOLD = re.compile(r"\b(?:I|we)(?:'ve| have|'m| am)? (?:noticed|found|saw|got|enabled)\b", re.IGNORECASE)
_FIELD = re.compile(
    r"(?:\w+[.\[\]\d]+)*(?:tool_calls|reasoning(?:_content)?|content|finish_reason|arguments)|</?\w{3,20}>"
)
_VALUES = frozenset(("none", "null", '""', "''"))  # what an explanation names as well
_OBJECT_LINE = re.compile(r"^[{\[][\"'{].*", re.MULTILINE)
_HEADING = 3  # words that may follow in a heading
_LABEL = r"^\s{{0,4}}(?P<head>#{{1,6}} |\*\*|【|\[)?(?:[-*] )?[^\w|]{{0,4}}(?:{})(?![a-z])(?P<end>.{{0,80}})"
_LABELS = [(re.compile(_LABEL.format(words), re.IGNORECASE | re.MULTILINE), telling) for words, telling in PARTS]
_TICKED = re.compile(r"^\s{0,4}- \[[ xX]\] .{0,80}\b(?:search|issues?|documentation|pull request)\b", re.MULTILINE)
_TITLE = re.compile(r"^\s{0,4}(?:#{1,6} |\*\*)\S")
# Jotted down: it begins with a small letter, or has the signs that people take for words.
_JOTTED = re.compile(
    r"\A(?!llama[.-]|gpt-oss\b)[a-z][a-z0-9.-]*[,:]? \S|(?<= )(?:w/o?|->|=>|btw|pls|plz|lol)(?= )|\?\?|…\?"
)
_MARKUP = re.compile(r"\A[#|>*+-]")  # of Markdown: a title, a table, a list
_LISTED = re.compile(r"\s{0,4}(?:[-*+]|\d{1,2}[.)]) ")
_TITLE_LENGTH, _JOT = 160, 500  # characters of a title without an end, and of something jotted down
_SIGNS = 3  # of a report, where no server is named
_LONG = 1_500  # characters of prose in which one sign of a report may be there by chance
_PRINTED = frozenset((Line.HEAD, Line.FRAME, Line.RAISED))
_ASKS = re.compile(r"[?？]\W{0,8}\Z")  # noqa: RUF001


@cache
def _own_parsers() -> re.Pattern[str]:
    """The name of a format beside the word parser: a server's parser is meant."""
    names = {name for fmt in builtin_formats().values() for name in (fmt.name, *fmt.aliases)}
    listed = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.compile(
        rf"\b(?:{listed})[ -](?:tool )?(?:pars|パーサ|解析)|\bpars\w+ [`'\"]?(?:{listed})\b", re.IGNORECASE
    )


def _names_server(said: str) -> bool:
    return _SERVER.search(said) is not None or _own_parsers().search(said) is not None


def _parts(given: Given) -> int:
    """How many parts of a report are named; none where no report has to have them."""
    found = [telling for label, telling in _LABELS if any(_is_label(one) for one in label.finditer(given.said))]
    return len(found) if any(found) else 0


def is_part_label(line: str) -> bool:
    """Return whether a line is a heading, or a label in bold, that names a part of a report."""
    return line.startswith(("#", "**")) and any((one := label.match(line)) and _is_label(one) for label, _ in _LABELS)


def _is_label(found: re.Match[str]) -> bool:
    """Return whether words are a heading of their own, or a label: nothing follows, or a colon does."""
    end = found["end"].strip(" *】]")
    if not end or end[0] in ":\uff1a?" or found["end"].startswith(" :"):
        return True
    return found["head"] is not None and len(end.split()) < _HEADING


def _is_form(given: Given) -> bool:
    """Return whether a text has the parts of a report from its first line on, and is about a server or its streams."""
    first = given.lines[0]
    if marker_in(first.lstrip()) == 0:
        return False
    begun = _TITLE.match(first) or not is_sentence(first) or any(label.match(first) for label, _ in _LABELS)
    formed = _parts(given) >= 2 or _TICKED.search(given.text) is not None or _is_headed(first)
    if begun and _asks_its_writer(given):
        return True
    return bool(begun and formed) and (_names_server(given.text) or _PARSING.search(given.text) is not None)


def _is_headed(first: str) -> bool:
    """Return whether a text begins with a heading of a kind that only reports have."""
    if _TITLE.match(first) is None:
        return False
    return any(telling and (one := label.match(first)) and _is_label(one) for label, telling in _LABELS)


def _is_about_parsing(given: Given) -> bool:
    """Return whether it names a server and what goes wrong with calls, reasoning or streams; advice does so too."""
    said = given.said
    if marker_in(given.lines[0].lstrip()) == 0:
        return False
    if not (_PARSING.search(said) and (FAULT.search(given.text[:PROSE]) or _is_asked(said))):
        return False
    own = _own_signs(given, said)
    if not _names_server(said) and own < _SIGNS:
        return False
    if ADVICE.search(POLITE.sub(" ", said)):
        return own > 1
    return own > 0 or any(sign.search(said) for sign in (_VERSION, _TOLD))


def _own_signs(given: Given, said: str) -> int:
    """How many signs of a report there are: its writer runs the server, its idioms, a question, that it is jotted, a
    block with what a program printed."""
    signs = [RUNS.search(said) is not None, IDIOM.search(said) is not None, _is_jotted(said.strip())]
    signs.append(_ASKS.search(said) is not None and OFFERS.search(said[-300:]) is None)
    signs.append(any(_is_log(block.text) for block in blocks_in(given.text[:PROSE])))
    return sum(signs)


def _is_log(text: str) -> bool:
    return not _PRINTED.isdisjoint(forms_of(text.splitlines()))


def _is_asked(said: str) -> bool:
    """Return whether somebody asks about a version of a server, in whatever language."""
    return _VERSION.search(said) is not None and _ASKS.search(said) is not None


def _is_jotted(said: str) -> bool:
    if len(said) > _JOT or _MARKUP.match(said) or "\n\n" in said:
        return False
    titled = len(said) <= _TITLE_LENGTH and "\n" not in said and not said.endswith((".", "!", ":", "。"))
    return titled or _JOTTED.search(said) is not None


def _is_told_by_its_user(given: Given) -> bool:
    """Return whether only a report says such, and nobody is spoken to.

    Reasons are given in reports as well, and long texts and lists have signs by chance: more signs of a report outweigh
    them. Markers outside of quotes may be an output's own, but for a call in the middle of a sentence, and where most
    signs of a report stand beside them.
    """
    said = POLITE.sub(" ", given.said)
    if ADVICE.search(said) or (_is_marked(said) and _own_signs(given, said) < _SIGNS):
        return False
    least = sum([EXPLAINS.search(said) is not None, len(said) > _LONG, _LISTED.match(said) is not None])
    return _own_signs(given, said) > least


def _is_told_around_quotes(given: Given) -> bool:
    """Return whether somebody says what goes wrong around what a program sent: people report so, and models explain so
    where they are asked."""
    said = POLITE.sub(" ", given.said)
    if marker_in(given.lines[0].lstrip()) == 0 or not any(map(is_sentence, said.splitlines())):
        return False
    quotes = list(quotes_in(given.text[:PROSE]))
    if any(quote.marked.is_block and is_marked(quote.text) and _is_log(quote.text) for quote in quotes):
        return True
    wrong = {found[0].lower() for found in FAULT.finditer(said)} - _VALUES
    if not wrong or ADVICE.search(said) or EXPLAINS.search(said):
        return False
    if any(quote.marked.is_block for quote in quotes):
        return any(_is_sent(quote.text) for quote in quotes)
    return any(map(_is_answer, [*[quote.text for quote in quotes], *_OBJECT_LINE.findall(given.text[:PROSE])]))


def _is_told_of_an_error(given: Given) -> bool:
    """Return whether its writer runs what failed, and shows in a block how a server or library said so."""
    said = POLITE.sub(" ", given.said)
    blocks = [block.text for block in blocks_in(given.text[:PROSE])]
    return RUNS.search(said) is not None and not _is_marked(said) and any(any(known_errors(one)) for one in blocks)


def _is_sent(text: str) -> bool:
    """Return whether a quoted text has to do with calls or answers: markers, keys of an API, an error."""
    return is_marked(text) or _FIELD.fullmatch(text) is not None or _is_answer(text)


def _is_answer(text: str) -> bool:
    return holds_answer(text) or any(known_errors(text))


def _is_surely_form(given: Given) -> bool:
    said = POLITE.sub(" ", given.said)
    worded = any(map(is_sentence, given.lines)) or any(map(_TITLE.match, given.lines))
    return worded and not (_speaks(said) or (_is_marked(said) and not _asks_its_writer(given)))


def _asks_its_writer(given: Given) -> bool:
    """Return whether a tracker's form stands in it, whose questions only whoever fills it in answers."""
    return sum(map(_is_label, _LABELS[-1][0].finditer(given.said))) > 1


_SPEAKS = re.compile(
    r"\byou(?:'re|'ll|'ve|rs?)?\b|\b(?:shall|should|want me to) I\b|\bSie\b|\bvous\b|您", re.IGNORECASE
)
# What a tracker's form asks of whoever fills it in, and is left standing.
_TEMPLATE_YOU = re.compile(
    r"^.{0,40}\byour (?:current )?(?:environment|question|proposal).*$|^.{0,80}\byou expected to happen\b.*$",
    re.IGNORECASE | re.MULTILINE,
)


def _speaks(said: str) -> bool:
    return _SPEAKS.search(_TICKED.sub("", _TEMPLATE_YOU.sub("", said))) is not None


def _is_marked(said: str) -> bool:
    """Return whether a marker stands outside of quotes, other than in the middle of a sentence that goes on."""
    return marker_in(_IN_SENTENCE.sub(" ", said)) >= 0


# A word, a call, and the sentence goes on in small letters.
_IN_SENTENCE = re.compile(
    r"(?<=[\w:,] )[<\[][|\w/｜][^\n]{0,600}[>\]}](?= ?[a-zäöüéèà,;)])|(?<=[\w:,] )</?\w{1,40}>(?= ?[a-z,;.)])"
)


REPORTS = (
    Shape(Pasted.REPORT, _is_form, _is_surely_form),
    Shape(Pasted.REPORT, _is_about_parsing, _is_told_by_its_user),
    Shape(Pasted.REPORT, _is_told_around_quotes, _is_told_of_an_error),
)
