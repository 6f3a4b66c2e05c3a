"""How programs begin their lines, by who writes them: heads of records, frames, errors, echoes and noise.

Machines begin lines with times, levels, addresses and places in files; people and models write sentences. `RAISED` are
lines on which a program says what befell it and that no sentence begins like; `NAMED` are those that one may. Every
pattern is bounded and looks at the beginning of one line, so a line costs its length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# What runs a program puts before its lines: docker compose, kubectl, journald, a process of vLLM, GitHub Actions.
_JOURNALLED = r"\w{3} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} [\w.@/-]{1,80}(?:\[\d+\])?: ?"
_CARRIER = (
    rf"(?:[\w.-]{{1,60}} {{1,20}}\| ?|\[pod/[\w./-]{{1,120}}\] |{_JOURNALLED}"
    r"|\(\w[\w .=-]{0,40}\) ?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z )?(?:\x1b\[[\d;]{0,12}m){0,3}"
)
JOURNAL = re.compile(rf"^(?:{_JOURNALLED}|[\w.-]{{1,60}} {{1,20}}\| |\[pod/)")
_LEVEL = r"(?:TRACE|VERB(?:OSE)?|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"
_DAY = r"(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4}|\d{4}[年년] ?\d{1,2}[月월] ?\d{1,2}[日일])"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_TIME = rf"(?:{_DAY}[T -]|\d\d-\d\d )?{_CLOCK}"
PREFIX = rf"{_CARRIER}(?:{_LEVEL}:? +)?(?:\[?{_TIME}\]? )?(?:\[[\w./]{{1,80}}:\d{{1,6}}\] ?)?"
_PLACE = r"[\w./\\@~<>+:-]{1,200}"  # a file, with its folders
_ADDRESS = r"0x[0-9a-fA-F]{4,16}\b"
_ERROR = r"(?:Error|Exception|Failure)"

_HEADS: Mapping[str, str] = {
    "time and level": rf"[\[(]?{_TIME}[^\n]{{0,40}}?(?:\b{_LEVEL}\b|\]|\||[-:] )",
    "level and time": rf"{_LEVEL}:? {{1,8}}[\[(]?{_TIME}",
    "day and time": rf"\[?{_DAY}[T -]{_CLOCK}",
    "logging.basicConfig": rf"{_LEVEL}:[\w.]{{1,80}}:",
    "uvicorn": rf"{_LEVEL}: {{2,8}}\S",
    "levels in brackets": rf"(?:\[[^\[\]\n]{{1,40}}\] ?){{0,3}}\[{_LEVEL}\] ?",
    "TensorRT-LLM": r"(?:\[[^\[\]\n]{1,40}\] ?){1,3}\[[TVDIWEF]\] ",
    "a level and its module": rf"{_LEVEL} {{1,8}}\[ {{0,30}}\w",
    "Rich": rf" {{4,30}}{_LEVEL} {{1,8}}\S",
    ".NET": r"(?:trce|dbug|info|warn|fail|crit): [\w.]{1,120}\[\d{1,6}\]",
    "glog": r"[IWEF]\d{4} \d\d:\d\d:\d\d",
    "the Linux kernel": r"\[ *\d{1,8}\.\d{6}\] ",
    "Android": r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d{1,7} +\d{1,7} [VDIWEF] ",
    "access logs": r"\d{1,3}(?:\.\d{1,3}){3} - \S{1,60} \[",
    "Ollama": r"time=\S{10,40} level=|level=\w{4,8} |\[GIN\] \d{4}/",
    "llama.cpp": r"(?:srv|slot|main|llama_\w+|que|ggml_\w+|load_tensors|print_info|common_\w+|res"
    r"|parse) {0,6}[\w()]*: ",
    "GitHub Actions": r"##\[\w+\]|::(?:error|warning|group)\b",
    "BuildKit": r"#\d{1,3} (?:\d{1,5}\.\d|\[|DONE|CACHED|ERROR)",
    "MPI": r"\[[\w.-]{1,60}:\d{3,8}\] ",
    "Valgrind": r"==\d{2,8}== ",
}  # fmt: skip
_WEAK_HEADS: Mapping[str, str] = {
    "a level": rf"{_LEVEL}\b:? ",
    "a time": rf"[\[(]?{_TIME}\b|\d{{4}}-\d\d-\d\d \d\d:\d\d\b",
    "a name in brackets": r"\[[A-Z][\w. -]{1,30}\] ",
}
_FRAMES: Mapping[str, str] = {
    "CPython": r"[\s|]{0,16}File \"[^\"\n]{1,300}\", line \d+",
    "IPython": rf"Cell In ?\[\d{{1,6}}\], line \d+|File {_PLACE}:\d+, in \S",
    "Rich": r"[│|┃] {1,3}(?:\S{1,200}:\d+ in \S|in \S{1,80}:\d+)",
    "pytest": rf"\S{{1,200}}\.py:\d+: (?:in \S|\w*{_ERROR}\b)",
    "gdb, lldb, sanitizers, PHP, Dart": (
        rf"\s{{0,8}}(?:frame )?#\d{{1,3}}:?\s{{1,8}}(?:{_ADDRESS}|\{{main\}}|\S{{1,200}}\(\d+\): "
        rf"|.{{1,300}}\({_PLACE}:\d+(?::\d+)?\)|.{{1,300}}\) (?:at|from) \S)"
    ),
    "Rust": (
        rf"\s{{1,8}}\d{{1,3}}:\s{{1,8}}(?:{_ADDRESS} - |[\w<][\w:<>{{}}, ]{{0,200}}::\S|\w{{1,80}}$)"
        r"|\s{4,20}at \.{0,2}/?\S{1,300}:\d+(?::\d+)?$"
    ),
    "Java, .NET, Node.js, browsers": (
        r"\s{1,16}at (?:async |new )?[^\s(]{1,200}(?: \[as \w+\])?(?: ?\(|:\d+)"
        r"|\s{1,16}at .{1,300} in \S.{0,200}:line \d+|\s{1,16}at [\w.$<>`\[\]]{1,200}\("
        r"|\s{0,16}\.{3} \d{1,3} (?:more|common frames omitted)$|\s{0,8}--- End of .{1,40} ---$"
    ),
    "Terraform": r"\s{2,4}on \S{1,200}\.tf line \d+(?:, in |:)",
    "PowerShell": r"At (?:[A-Z]:\\|/)\S{1,300}:\d+ char:\d+|At line:\d+ char:\d+",
    "Go": r"\t\S.{0,300}\.go:\d+|goroutine \d+ \[|created by \S|\s{4}\S{1,80}_test\.go:\d+: ",
    "Ruby": r"\s{1,8}(?:\d{1,3}: )?from \S{1,200}:\d+:in ",
    "Elixir, Erlang": r"\s{2,8}\([\w. ]{1,60}\) \S{1,200}\.exs?:\d+: |\s{2,8}in (?:function|call from) {1,4}\w+:\w+/\d",
    "Julia": r"\s{1,4}\[\d{1,3}\] \S.{0,300}$|\s{2,8}@ \S.{0,200}:\d+$|\s{0,8}in expression starting at \S",
    "Lua": r"\t(?:\[C\]|\S{1,200}\.lua:\d+): in ",
    "Haskell": r"\s{2,8}\S.{0,80}, called at \S{1,200}:\d+:\d+ in ",
    "Zig": rf"{_PLACE}:\d+:\d+: {_ADDRESS} in \S",
    "Valgrind": rf"==\d{{2,8}}==\s{{4,8}}(?:at|by) {_ADDRESS}",
    "backtrace(3), MPI, macOS": (
        r"\S{1,200}\((?:\w{1,200})?\+0x[0-9a-f]{1,16}\) ?\[0x|\d{1,3}\s{1,20}(?:\S{1,80}\s{1,40})?0x[0-9a-f]{6,16} \S"
    ),
}
_RAISED: Mapping[str, str] = {
    "CPython": (
        r"[╭┌+|│ ─-]{0,80}(?:Exception Group )?Traceback \(most recent call last\)|\w{1,80} {3,}Traceback \(most"
        r"|Fatal Python error: "
        r"|(?:Current thread|Thread) 0x[0-9a-f]"
    ),
    "pytest": rf"E {{2,8}}[A-Za-z_][\w.]{{0,100}}{_ERROR}\b",
    "an error with its module": (
        rf"(?:[A-Za-z_][\w-]{{0,60}}(?:\.|::)){{1,8}}[A-Za-z_][\w$]{{0,100}}{_ERROR}(?:: |:?\s*$|\()"
    ),
    "Rust": r"thread '[^'\n]{1,80}'(?: \(\d+\))? panicked at |[Ss]tack backtrace:$|Caused by:\s*$",
    "C++": (
        r"terminate called (?:after|without)|\s{0,8}what\(\): {1,4}\S|Segmentation fault \(core|Aborted \(core"
        r"|GGML_ASSERT\(|.{0,200}\.(?:cu|cpp|c|h|cc):\d+: (?:CUDA error|GGML_ASSERT)"
        r"|.{0,80}\*\*\* Process received signal|\*\*\* (?:SIG|Aborted at)"
    ),
    "sanitizers": r"==\d+==\s?ERROR: |SUMMARY: \w+Sanitizer",
    "gdb, lldb": r"Program (?:terminated|received) .{0,40}signal |Thread \d{1,4} .{0,80}(?:received signal|Crashed)"
    r"|\* thread #\d+, .{0,80}stop reason",
    "macOS": r"Exception Type: {2,12}\S|Process: {4,20}\S.{1,80}\[\d+\]$",
    "Java, Dart, .NET": r"Unhandled exception[.:]|Exception in thread |Stack ?[Tt]race:\s*$|Backtrace:$",
    "JavaScript": rf"Uncaught (?:\(in promise\) )?\w{{0,80}}{_ERROR}\b|error: Uncaught |npm (?:ERR!|error) ",
    "Go": r"panic: (?:runtime error|\S{1,80}: )|fatal error: [a-z -]{3,80}!?$|--- FAIL: \w",
    "PHP": r"PHP (?:Fatal|Warning|Parse) \w*:? ",
    "Ruby": r"\S{1,200}\.rb:\d+:in [`']",
    "Elixir, Erlang": r"\*\* \([A-Z][\w.]{1,80}\) |=[A-Z ]{3,40} REPORT====|\s{2,8}(?:crasher|exception error"
    "|initial call):",
    "Julia, Lua, Haskell, Zig": (
        r"ERROR: LoadError: |stack traceback:$|CallStack \(from HasCallStack\):|thread \d{1,9} panic: "
    ),
    "Swift": r"Fatal error: .{1,300}\bfile \S{1,200}, line \d+",
    "Perl, R": r".{1,400} at \S{1,200}\.p[lm] line \d+\.$|Error in [\w.:]{1,80}\(.{0,200}\) :",
    "PowerShell": r"[A-Z][a-z]{1,30}-[A-Z]\w{1,40} : \S",
    "make, ninja, curl": r"make(?:\[\d+\])?: \*\*\* |ninja: build stopped|curl: \(\d{1,3}\) ",
    "clients of an API": r"Error code: \d{3}\b",
    "Docker": r"(?:docker: )?Error response from daemon: \S|Unable to find image '",
}
_NAMED: Mapping[str, str] = {
    "a class of errors": (
        r"[A-Z]\w{0,80}(?:Error|Exception|Warning|Interrupt|Exit|Failure)\b(?: \[[^\]\n]{1,60}\])?(?::|$|\()"
    ),
    "a chain": r"(?:Caused by|Suppressed): ?|During handling of the above exc|The above exception was the direct cause",
    "a word": r"Error: |error: |note: |\[[Ee]rror\] |Calls: \S|Execution halted$",
    "compilers": rf"{_PLACE}(?::\d+:(?:\d+:)?|\(\d+\):) (?:fatal )?(?:error|warning|note)\b|{_PLACE}:\d+$",
    "what runs a program": (
        r"Node\.js v\d|Extension modules: |exit status \d|<asynchronous suspension>|called `\w+::|\(gdb\) |\[New LWP "
        r"|Exception Codes: |(?:READ|WRITE) of size \d|\s{1,8}thrown in \S|FAIL(?:$|\t)|ok {2}\t|test result: "
    ),
}
_ECHOES: Mapping[str, str] = {
    "carets": r"\s{2,80}[\^~]+\s*$|\s{1,12}\|[\s~^]",
    "numbered source": r"\s{0,8}[>❱]?\s{0,8}\d{1,6} ?[│|]|\d{1,6}\t|-{2,6}> \d{1,6} |\s{2,8}[|+][-+\s]",
    "boxes": r"[╭╰│┌└├┃╮╯┐┘┤─]",
    "brackets": r"\s*[}\])]+[,;]?(?: \{)?$",
    "pytest, PowerShell": r"[E>] {2,}\S|\+ {1,8}\S|\s{1,8}\+ (?:CategoryInfo|FullyQualifiedErrorId|~)",
}
_NOISES: Mapping[str, str] = {
    "progress": r".{0,120}\d{1,3}%(?:\|| Completed| [|#█━]).{0,200}$|.{0,80}[━█▏]{6}",
    "ends": r"\s*(?:\^C|Killed|Aborted).{0,80}$",
    "rules": r"\s*[=_*~─━-]{5,200}\s*$|[=_]{3,200} .{1,200} [=_]{3,200}$",
    "versions": r"version: \d+ \([0-9a-f]{7,40}\)|built with \S+ \(",
    "tests": (
        r"\S{1,200}\.py::\S{1,200} (?:PASSED|FAILED|ERROR)|running \d+ tests?$|test \S{1,200} \.\.\. (?:ok|FAILED"
        r"|ignored)"
        r"|failures:$|---- \S{1,200} stdout ----$|=== RUN |\s{0,2}(?:FAIL|PASS) {1,2}\S{1,200}\.(?:test|spec)\.|\s{2}● "
    ),
}


def _any_of(forms: Mapping[str, str], before: str = "") -> re.Pattern[str]:
    return re.compile(rf"^{before}(?:{'|'.join(forms.values())})")


HEAD, WEAK_HEAD = _any_of(_HEADS, _CARRIER), _any_of(_WEAK_HEADS, _CARRIER)
FRAME, RAISED, NAMED = [_any_of(forms, PREFIX) for forms in (_FRAMES, _RAISED, _NAMED)]
ECHO, NOISE = _any_of(_ECHOES), _any_of(_NOISES)
# The class of an exception, whatever its name is: only right below frames does this say what a line is.
CLASS = re.compile(rf"^{PREFIX}[A-Za-z_][\w.]{{0,200}}: ?")
