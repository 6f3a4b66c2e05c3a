"""What is typed into a program and what it answers, what tools that build print, and what people write to each other.

Each is told by its form, from its first line on. A model that plays a console, drafts a mail or writes a dialogue can
write most of them, so they are sure only where they hold what nobody makes up: numbered prompts with their results, the
stations of a mail. (gcc, clang, ld, make, tsc, rustc; psql, MySQL, SQLite, mongosh, IPython,
Python, Ruby, R, zsh with its usual themes, cmd; Terraform, Ansible, ping, dig; WhatsApp, Slack, Discord, IRC; RFC 5322
and what mail programs in a few languages write; Jira.)
"""

from __future__ import annotations

import re
from itertools import takewhile

from parsers.search.markup import marker_in
from parsers.search.pasted_kinds import Given, Pasted, Shape, always, never
from parsers.search.pasted_lines import is_sentence

_HEAD = 4  # lines among which the first telling one stands
# Prompts: what follows one is typed.
_PYTHON, _CMD = r">>>|\.\.\.", r"[A-Z]:\\[^\n>]{0,100}>.*"
_PROMPTS = tuple([
    re.compile(rf"^(?:{form})(?:\s|$)")
    for form in (
        r"[\w-]{1,40}(?: \[[\w:]{1,40}\] [\w-]{1,40})?>", r"[\w.-]{1,40}(?:[=\-('\"*^!][#>])", _CMD, _PYTHON, r"\$",
        r"irb\([\w:]{1,40}\):\d+(?::\d+)?[>*]", r"(?:\S{1,80} )?[❯➜»λ]",  # noqa: RUF001
        r"(?:\([\w.-]{1,40}\) )?(?:~|/)\S{0,80} [%$#]",
    )
])  # fmt: skip
_COMMAND = re.compile(r"\$ [a-z][\w./+-]*(?: |\Z)")
_BELOW_BANNER = re.compile(rf"^(?:{_CMD}|{_PYTHON})", re.MULTILINE)
# Models show what Python answers to a line or two; who sits before it imports something and leaves.
_SHOWN = re.compile(r">>> ")
_SAT = re.compile(r"^>>> (?:import \w|from \S{1,60} import |(?:exit|quit)\()", re.MULTILINE)
_TYPED_IN_R = re.compile(r"^> (?:[\w.]{1,40} ?(?:<-|\(|\[|\$|~)|[\w.]{1,40}$)")
_PRINTED_BY_R = re.compile(r"^ {0,8}\[\d{1,5}\] \S", re.MULTILINE)
_NUMBERED = re.compile(r"^(?:In|Out) ?\[\d{1,5}\]: ?", re.MULTILINE)
_BANNER = re.compile(r"\A\s*(?:Microsoft Windows \[Version |Python \d\.\d+\.\d+ \(|R version \d|psql \(\d|GNU gdb )")

_PLACE = r"\S{1,200}(?::\d{1,7}(?::\d{1,5})?:|\(\d{1,7}(?:,\d{1,5})?\) ?:)"
_TOOL = r"(?:\S{0,80}/)?(?:ld|collect2|lld|gold|make|gmake|cc1(?:plus)?|clang(?:\+\+)?|gcc|g\+\+|ninja)"
_DIAGNOSED = re.compile(
    rf"^{_PLACE} (?:fatal )?(?:error|warning|note|remark)\b|^{_TOOL}(?:\[\d+\])?(?:\.\w{{2,5}})?: \S"
    r"|^(?:error|warning)(?:\[[A-Z]\d{2,5}\])?: \S.{0,300}\n {1,8}-->|^\S{1,200}:\(\.\w+\+0x[0-9a-f]+\): ",
    re.MULTILINE,
)
_BUILT = re.compile(
    rf"^{_PLACE} |^(?:error|warning|note|help)(?:\[\w+\])?: |^\s|^\d{{1,6}} {{1,4}}\||^\S{{1,200}}: (?:In |At )\w"
    r"|^In file included from |^(?:\S{0,80}/)?[\w+.-]{1,24}(?:\[\d+\])?: \S|^\S{1,200}:\(\.\w+\+|^Found \d+ error"
    r"|^\d+ (?:error|warning)s? |^(?:cc|gcc|g\+\+|c\+\+|clang(?:\+\+)?|ld|ar|rustc|javac|cmake|go) [-\w]"
    r"|^\[ *\d{1,3}(?:%|/\d+)\]|^For more information about |^BUILD FAILED"
)
_PLANNED = re.compile(r"\A\s*(?:Terraform (?:will perform|used the selected)|An execution plan has been generated)")
_PLAN = re.compile(r"^ {2}# \S{1,200} (?:will|must) be |^Plan: \d+ to add", re.MULTILINE)
_RAN = re.compile(
    r"\A\s*(?:(?:PLAY|TASK|RUNNING HANDLER) (?:\[.{0,200}\] )?\*{3}|PING \S{1,200} \([\da-f.:]{3,45}\)"
    r"|traceroute to \S{1,200} \(|; <<>> DiG |Pinging \S{1,200} (?:\[[\da-f.:]+\] )?with \d+ bytes)"
)

_STAMP = r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},? (?:at )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?"
_STAMPED = re.compile(rf"^\[?{_STAMP}\]?(?: -)? [^:\n]{{1,40}}: \S")
_NICKED = re.compile(
    rf"^(?:\[?{_CLOCK}\]? )?(?:<[@+~&%]?[A-Za-z][\w|`^{{}}\[\]-]{{0,30}}> \S"
    r"|(?:\*|-!-|-->|<--) ?\S{1,40} (?:\[|\(|has |is now|joined|left|quit))"
)
_SPOKEN = re.compile(
    rf"^[^\W\d_][^\n:|<>]{{0,40}}(?: {{1,4}}|\t)(?:APP )?\[?{_CLOCK}\]?\s*$"
    rf"|^\S.{{0,40}} [—–] (?:(?:Today|Yesterday) at {_CLOCK}|{_STAMP})\s*$",
    re.MULTILINE,
)
# The fields of a mail's head by what they say: who, to whom, what about; and its stations, which nobody writes by hand.
_FIELD = re.compile(r"^([A-Za-zÀ-ÿ][\w -]{0,38}|发件人|收件人|主题|差出人|宛先|件名) ?[:：] ?\S")  # noqa: RUF001
_FIELDS = (
    frozenset(("from", "von", "de", "od", "da", "van", "от", "发件人", "差出人")),
    frozenset(("to", "an", "à", "para", "do", "a", "aan", "кому", "收件人", "宛先")),
    frozenset((
        "subject", "betreff", "objet", "asunto", "temat", "oggetto", "assunto", "onderwerp", "тема", "主题", "件名",
    )),
)  # fmt: skip
_STATIONS = frozenset(("received", "return-path", "message-id", "dkim-signature", "mime-version", "delivered-to"))
_KEYED = re.compile(r"\A\s*[A-Z][A-Z0-9]{1,15}-\d{1,6}(?: ?[:–—-] ?|\s)\S")
_TRACKED = re.compile(
    r"(?:^|\s)(?:Type|Status|Priority|Reporter|Assignee|Statut|Priorité|Rapporteur|Typ|Priorität|Autor|Estado|Prioridad"
    r"|Informador) ?: ?\S",
    re.MULTILINE,
)


def _is_session(given: Given) -> bool:
    """Return whether a prompt begins it and stands again below, or a program says at first which it is."""
    text, first = given.text, given.lines[0]
    if _BANNER.match(text):
        return _BELOW_BANNER.search(text) is not None
    if marker_in(text) >= 0 or (_SHOWN.match(first) and not _SAT.search(text)):
        return False
    return _is_of_r(given) or _is_command(given) or any(_is_typed_at(prompt, given) for prompt in _PROMPTS)


def _is_command(given: Given) -> bool:
    """Return whether one command is typed, and what follows it is what it printed: hardly a sentence, and none last."""
    said = [is_sentence(line) for line in given.lines]
    return _COMMAND.match(given.lines[0]) is not None and len(said) > 1 and not said[-1] and 3 * sum(said) < len(said)


def _is_typed_at(prompt: re.Pattern[str], given: Given) -> bool:
    """Return whether the first line and another have the same prompt, as far as that names a program or a place."""
    found = [match[0][:2] for line in given.lines if (match := prompt.match(line))]
    return prompt.match(given.lines[0]) is not None and found.count(found[0]) > 1


def _is_of_r(given: Given) -> bool:
    typed = [line for line in given.lines if _TYPED_IN_R.match(line)]
    return len(typed) > 1 and typed[0] is given.lines[0] and _PRINTED_BY_R.search(given.text) is not None


def _is_numbered(given: Given) -> bool:
    return _NUMBERED.match(given.text.lstrip()) is not None and len(_NUMBERED.findall(given.text)) > 1


def _is_build(given: Given) -> bool:
    begun = _DIAGNOSED.search("\n".join(given.lines[:_HEAD])) is not None
    return begun and len(given.lines) > 1 and all(_BUILT.match(line) for line in given.lines)


def _is_run(given: Given) -> bool:
    planned = _PLANNED.match(given.text) is not None and _PLAN.search(given.text) is not None
    return planned or _RAN.match(given.text) is not None


def _is_chat(given: Given) -> bool:
    if len(given.lines) < 2 or marker_in(given.text) >= 0:
        return False
    stamped = any(given.are(one) for one in (_STAMPED, _NICKED))
    return stamped or (_SPOKEN.match(given.lines[0]) is not None and len(_SPOKEN.findall(given.text)) > 1)


def _fields(given: Given) -> set[str]:
    """The names of the fields that the text begins with; lines that are set in go on with the one above."""
    matches = ((_FIELD.match(line), line) for line in given.lines)
    head = takewhile(lambda one: one[0] is not None or one[1][:1] in (" ", "\t"), matches)
    return {match[1].casefold() for match, _ in head if match is not None}


def _is_mail(given: Given) -> bool:
    fields = _fields(given)
    return _is_sent_mail(given) or all(not names.isdisjoint(fields) for names in _FIELDS)


def _is_sent_mail(given: Given) -> bool:
    return len(_STATIONS & _fields(given)) > 1


def _is_ticket(given: Given) -> bool:
    return _KEYED.match(given.text) is not None and len(_TRACKED.findall(given.text)) > 1


SESSIONS = (
    Shape(Pasted.LISTING, _is_numbered, always),
    Shape(Pasted.LISTING, _is_session, never),
    Shape(Pasted.LISTING, _is_build, never),
    Shape(Pasted.LISTING, _is_run, never),
)
MESSAGES = (
    Shape(Pasted.MESSAGES, _is_mail, _is_sent_mail),
    Shape(Pasted.MESSAGES, _is_chat, never),
    Shape(Pasted.TICKET, _is_ticket, never),
)
