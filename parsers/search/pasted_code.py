"""The source of a program from its first line to its last, in any of the common languages.

A model that completes code answers just so: it is a doubt, never sure. A program that calls a server is a script
(`pasted_settings`), and stands before these.
"""

from __future__ import annotations

import re

from parsers.search.pasted_kinds import Given, Pasted, Shape, never
from parsers.search.pasted_lines import is_sentence

_LINES = 3  # fewer are a word of code, as people ask for one
# How a file or its first definition begins: what it takes in, what it defines, whose it is.
_BEGINS = re.compile(
    r"#(?:include|pragma|define|ifndef)\s*\S|#!\s?/|(?:import|package|use|using|require|mod|namespace) [\w.{*\"'(<@]"
    r"|from \S{1,80} import |import\("
    r"|(?:(?:pub(?:\(\w+\))?|export|default|public|private|protected|internal|static|final|abstract|async|unsafe"
    r"|extern|inline|constexpr|data|sealed|open|override) ){0,4}"
    r"(?:def|fn|func|fun|function\*?|class|struct|enum|interface|impl|trait|type|record|object|module|union|typedef)"
    r"(?: [\w&'<$]|<|\()"
    r"|(?:export )?(?:const|let|var|val|static|final|local) [\w{\[$].{0,80}="
    r"|template ?<|(?:unsigned |static |const )*(?:int|void|char|bool|float|double|auto|long) [\w*:]{1,60}\("
    r"|@\w[\w.]{0,60}(?:\(|$)|#\[\w|['\"]use strict['\"]|if __name__ == |/\*\*?(?:\s|$)|// |;; |--\[\["
    r"|[a-z_$][\w$]{0,40}(?:\.[\w$]{1,40}){1,4}\(.{0,200}[{(]$"
)
_LINE = re.compile(
    r"[ \t]{2,}\S|\t\S|(?:try|else|do|finally|begin)\s*$|[)\]}>]|//|/\*|\*[ /]|#|@\w|--|;|.*[;{}(),:=\[\]\\]\s*$"
    r"|[\w.$*&>:\[\]\"', ]{1,80}\s(?:[-+*/|&%:]|<<|>>)?=[ \n]"
    r"|[\w.:$]{1,80}(?:<.{1,60}>)?!?\(.*\)\s*$|(?:return|import|from|use|end|else|fi|done|break|pass|raise|yield|package)\b"
)


def _is_program(given: Given) -> bool:
    lines = given.lines
    return (
        len(lines) >= _LINES
        and _BEGINS.match(lines[0].lstrip()) is not None
        and given.are(_LINE)
        and not any(is_sentence(line) for line in (lines[0], lines[-1]) if not _LINE.match(line))
    )


_MADE = re.compile(r"\s*[\w.]{1,80} = [\w.]{1,80}\(([^\n]*)\)\s*\Z")


def _is_made(given: Given) -> bool:
    """Return whether it is one line that makes something of a text, such as the pattern of a parser."""
    made = _MADE.match(given.text)
    return made is not None and any(quote in made[1] for quote in "\"'")


CODE = (Shape(Pasted.PROGRAM, _is_program, never), Shape(Pasted.PROGRAM, _is_made, never))
