"""What configures or starts a server, and changes to one: settings, scripts, templates, diffs.

Each is told by its form, line by line. Whether it is about a server of models is another question: models write YAML,
scripts, settings and diffs as answers. (Jinja templates of Hugging Face, Modelfiles of Ollama, model cards,
Dockerfiles, INI and TOML, environment files, manifests of Kubernetes, scripts of shells, Python and JavaScript.)
"""

from __future__ import annotations

import re

from parsers.search.pasted_kinds import Given, Pasted, Shape, always, having, never
from parsers.search.pasted_lines import is_sentence

_VARIABLE = r"^(?:export )?[A-Z][A-Z0-9_]{1,60}=\S*(?: \S+)*\s*$"
_DIFF = re.compile(
    r"\A\s*(?:diff --git a/\S|diff -\w+ \S|Index: \S+\n=|From [0-9a-f]{40} |commit [0-9a-f]{7,40}\n"
    r"|--- \S.{0,400}\n\+\+\+ )"
)
_DIFF_LINE = re.compile(
    r"^(?:[ +@\\-]|diff |index |(?:new|deleted|old) (?:file )?mode|similarity |rename |commit |Author: |Date: "
    r"|From[: ]|Subject: |Index: |=+$)"
)
_HUNK = re.compile(r"^@@ ", re.MULTILINE)
_TEMPLATE = re.compile(r"\A\s*(?:\{[%#][-~+]?|\{\{[-~]?|FROM \S+\n(?=(?:.*\n){0,40}(?:TEMPLATE|PARAMETER|SYSTEM) ))")
_TEMPLATE_OF = re.compile(
    r"\badd_generation_prompt\b|\bmessages\b|\.(?:Messages|System|Prompt|ToolCalls)\b|^(?:TEMPLATE|PARAMETER) ",
    re.MULTILINE,
)
_CARD = re.compile(r"\A\s*---\n(?:.{0,200}\n){0,80}?---(?:\n|\Z)")
_CARD_KEY = re.compile(
    r"^(?:license|license_link|library_name|pipeline_tag|base_model|datasets|quantized_by|model_name|model_creator"
    r"|tags|language):",
    re.MULTILINE,
)
# What stands before a program that a script starts: the shell's own words, variables, other programs.
_RUNNER = (
    r"(?:(?:exec|nohup|sudo|time|env|nice(?: -n \d{1,2})?|numactl(?: -\S{1,40}){1,4}|[A-Z_]\w{0,60}=\S{0,200}) ){0,6}"
)
_CALLS_SERVER = re.compile(
    r"\b(?:client|openai|anthropic|llm)\w{0,20}\."
    r"(?:(?:beta\.)?chat\.completions|responses|messages)\.(?:create|stream|parse)\("
    r"|/v1/(?:chat/)?completions|/api/(?:chat|generate)\b|\blitellm\.a?completion\("
    rf"|^\s{{0,20}}{_RUNNER}"
    r"(?:vllm serve|python3? -m (?:vllm|sglang)\.|docker run|llama-server|\./\S{0,60}llama-server"
    r"|sglang serve|ollama (?:run|serve|pull))\b|\bLLM\(model=|\bsgl\.Engine\(",
    re.MULTILINE,
)
_RUN = (
    r"curl |wget |https? (?:GET|POST|:)|export |pip3? |uv |docker |podman |python3? |sudo |nohup |\./|\$ ?\w|Invoke-\w"
    r"|(?:cd|source|git|conda|kubectl|helm|ssh|scp|mkdir|tail|cat|tmux|make) \S|(?:nvidia-smi|exit|history|ls)\b"
    r"|(?:vllm|sglang|ollama|(?:\./)?llama-server) (?:serve|run|pull|launch|chat|-)"
)
_BEGINS = re.compile(
    r"^(?:#|import |const |let |package |from [\w.]+ import |async |def |class |for \w+ in |while |if \[|set -|\w+=\S"
    rf"|function |\"{{3}}|{_RUN})"
)
_CODE = re.compile(
    r"^\s*(?:#|\"{3}|'{3}|@|import |from |def |class |async |await |for |if |elif |else:|try:|except|with |while "
    r"|const |let |var |function |type |func |package |\w{1,40}: |do$|done\b|then$|fi$|else$|set -|echo |sleep |jq |\|"
    r"|<<|EOF|return|print\(|raise |-{1,2}\w|[\]\[(){}\"'.,]|[\w.]+\s*(?:=|\()|\S+ ?\\$|.{1,200}\\$"
    rf"|{_RUN})"
)
_OPTION_OF_SERVER = re.compile(
    r"--(?:tool-call-parser|enable-auto-tool-choice|reasoning-parser|jinja|chat-template|tensor-parallel-size|tp-size"
    r"|served-model-name|gpu-memory-utilization|max-model-len|n-gpu-layers|mem-fraction-static|tool-parser-plugin)\b"
    r"|\bimage: {0,8}\S{0,200}(?:vllm|sglang|llama[.-]?cpp|ollama|tgi|text-generation|litellm|lmdeploy|tritonserver)"
    r"|\bnvidia\.com/gpu|\b(?:litellm_params|servingEngineSpec|modelURL|vllmConfig|InferenceService)\b"
    r"|\b(?:tool_call_parser|reasoning_parser|hosted_vllm/)|^FROM \S{0,100}(?:vllm|sglang|llama[.-]?cpp|ollama)"
    r"|^ExecStart=.{0,400}(?:vllm|sglang|llama-server)",
    re.MULTILINE,
)
_SERVERS = (
    r"(?:vllm|sglang|llama[._-]?cpp|llama-server|ollama|lmdeploy|tensorrt[-_]llm|trtllm|text-generation-inference"
    r"|tritonserver)"
)
_SERVER_SET = re.compile(
    rf"^(?:export )?(?:VLLM|SGLANG|OLLAMA|HF|CUDA|NVIDIA|OPENAI_API|TOOL_CALL|LMDEPLOY|TRTLLM)_\w+="
    rf"|{_SERVERS}\W{{1,6}}serve\b"
    rf"|^\[[\w.\" -]*{_SERVERS}[\w.\" -]*\]|\b(?:backend|engine|server"
    rf"|runtime)\s?[=:]\s?[\"']?{_SERVERS}|^FROM \S*{_SERVERS}"
    r"|\b(?:gpu_memory_utilization|tensor_parallel_size|max_model_len|enable_auto_tool_choice)\b",
    re.MULTILINE | re.IGNORECASE,
)
_OPTION = re.compile(
    r"^(?!.*[a-z`)][.?!]$)\s*(?:- +)?[\"'{]?(?:-{1,2}[A-Za-z]|[\w./-]{1,60}\"?:(?:\s|$)"
    r"|[A-Z][A-Z0-9_]{2,60}=)|^\s*- (?:[\"'{\[]|-{1,2}\w|\S+$|[\w.-]+:|\S+=\S)|^-{3}$|^\s*#"
    r"|^\s*[\[\]{}],?$|^\s+\S|^(?:FROM|RUN|COPY|ENV|ENTRYPOINT|CMD|EXPOSE|WORKDIR|ARG) |^\[[\w.-]{1,60}\]$"
    r"|^[A-Z]\w{2,40}="
)
_COMMENT = re.compile(r"^\s*[#;]")
# INI and TOML, a file of an environment, a Dockerfile: how the first line begins, and what any line is.
_FILES = (
    (
        re.compile(r"^\[\[?[A-Za-z][\w.\" -]{0,80}\]\]?\s*$"),
        re.compile(r"^\[\[?[\w.\" -]{1,80}\]\]?\s*$|^\s*[\w.\"-][\w. \"-]{0,60}\s?[=:]\s?\S|^\s+\S|^\s*[\]}],?$"),
    ),
    (re.compile(_VARIABLE), re.compile(_VARIABLE)),
    (
        re.compile(r"^(?:FROM|ARG) \S+(?: AS \w+)?\s*$", re.IGNORECASE),
        re.compile(
            r"^(?:FROM|RUN|COPY|ADD|ENV|ARG|WORKDIR|EXPOSE|CMD|ENTRYPOINT|USER|VOLUME|LABEL|HEALTHCHECK|SHELL) \S"
            r"|^\s+\S",
            re.IGNORECASE,
        ),
    ),
)
_PRINTED_OPTIONS = re.compile(
    r"\A\s*(?:server_args=|args: |non-default args: )?(?:(?:Namespace|ServerArgs|(?:Async)?EngineArgs|VllmConfig"
    r"|ModelConfig|LLMEngine)\(|non-default args: \{)"
)
_PARSER_SOURCE = re.compile(
    r"^class \w+\((?:\w+\.)?(?:ToolParser|ReasoningParser|BaseFormatDetector|BaseReasoningFormatDetector)\):"
    r"|^from (?:vllm|sglang)[\w.]* import ",
    re.MULTILINE,
)


def _is_diff(given: Given) -> bool:
    return _DIFF.match(given.text) is not None and _HUNK.search(given.text) is not None and given.are(_DIFF_LINE)


def _is_card(given: Given) -> bool:
    head = _CARD.match(given.text)
    return head is not None and len(set(_CARD_KEY.findall(head[0]))) >= 2


def _is_options(given: Given) -> bool:
    if _PRINTED_OPTIONS.match(given.text):
        return True
    return len(given.lines) >= 2 and _OPTION_OF_SERVER.search(given.text) is not None and given.are(_OPTION)


def _is_settings(given: Given) -> bool:
    """Return whether it is a file of settings, whatever they are for: nothing but its own lines, and two at least."""
    lines = [line for line in given.lines if not _COMMENT.match(line)]
    if len(lines) < 2 or is_sentence(lines[-1]):
        return False
    return any(begins.match(lines[0]) and given.are(own, _COMMENT) for begins, own in _FILES)


def _set_a_server(given: Given) -> bool:
    """Return whether settings are a server's: a program that only depends on one has settings too."""
    return any(sign.search(given.text) for sign in (_OPTION_OF_SERVER, _SERVER_SET))


def _is_script(given: Given) -> bool:
    return bool(_BEGINS.match(given.lines[0].lstrip()) and _CALLS_SERVER.search(given.text)) and given.are(_CODE)


def _is_source(given: Given) -> bool:
    return bool(_BEGINS.match(given.lines[0].lstrip()) and _PARSER_SOURCE.search(given.text)) and given.are(
        _CODE, _INDENTED
    )


_INDENTED = re.compile(r"^\s+\S")


# A model may write a page too, but hardly one of a proxy.
_PAGE = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_GATEWAY = re.compile(
    r"\b[45]\d\d\b.{0,40}"
    r"\b(?:Bad Gateway|Gateway Time-?out|Not Found|Forbidden|Unauthorized|Unavailable|Too Many|Error)\b",
    re.IGNORECASE,
)


_FAILED = re.compile(
    r"<title>[^<]{0,120}(?:\berror\b|timed? ?-?out|timeout|denied|forbidden|unavailable|not found|bad gateway|sign in"
    r"|log ?in|just a moment|attention required|maintenance)",
    re.IGNORECASE,
)


def _is_page(given: Given) -> bool:
    whole = _PAGE.match(given.text) is not None and "</html>" in given.text.lower()
    return whole and any(sign.search(given.text) for sign in (_GATEWAY, _FAILED))


# The head of a request or of an answer, and no body.
_STATUS_LINE = re.compile(r"\s*(?:HTTP/\d(?:\.\d)? \d{3}|[A-Z]{3,7} \S{1,400} HTTP/\d)")
_HEAD = re.compile(r"^(?:[<>*] )?(?:HTTP/\d(?:\.\d)? \d{3}|[A-Z]{3,7} \S{1,400} HTTP/\d|[A-Za-z][\w-]{1,60}: ?\S)")


def _is_head(given: Given) -> bool:
    return _STATUS_LINE.match(given.text) is not None and given.are(_HEAD)


_CHANGED = re.compile(r"^(?:diff |--- |\+\+\+ |Index: )(?P<files>.{1,400})", re.MULTILINE)
_OF_A_PARSER = re.compile(
    r"vllm|sglang|llama|ollama|tool_?parser|reasoning_?parser|function_call|chat_template|\bparsers?/|_detector\.py",
    re.IGNORECASE,
)


def _changes_a_parser(given: Given) -> bool:
    return any(_OF_A_PARSER.search(match["files"]) for match in _CHANGED.finditer(given.text))


_OF_CHATS = re.compile(
    r"\badd_generation_prompt\b|\bbos_token\b|<\||\brole\b|\.Role\b|^(?:TEMPLATE|PARAMETER) ", re.MULTILINE
)


_OF_A_MODEL = re.compile(
    r"^(?:library_name|pipeline_tag|base_model|license_link|quantized_by|model_creator):", re.MULTILINE
)


# A title, or what projects put above it; a badge or a logo; chapters; and a link to a file of the project.
_TITLED = re.compile(
    r"\A\s*(?:<!--|<(?:p|h1|div|img|a|picture|center)\b|#{1,3} \S|\[?!\[|\[<img|\S.{0,80}\n={3,})", re.IGNORECASE
)
_BADGE = re.compile(r"\[!\[[^\]\n]{0,120}\][(\[]|<img\b[^>]{1,400}>|!\[[^\]\n]{0,120}\]\(\S{1,400}(?:badge|shields)")
_CHAPTER = re.compile(
    r"^(?:#{1,4} [^\w\n]{0,6})?(?:About|Overview|Install(?:ation|ing)?|Set ?up|Building|Getting started|Quick ?start"
    r"|Usage|Features|Requirements|Prerequisites|Documentation|API|Develop(?:ment|ing)|Tests?|Testing|Contribut\w+"
    r"|Licen[sc]e|Change ?log|Acknowledge?ments|Citation|Roadmap|Security|Support|Community|Related)\b[^\n]{0,30}"
    r"(?=\n|\Z)(?:\n[=-]{3,})?",
    re.IGNORECASE | re.MULTILINE,
)
_OWN_FILE = re.compile(r"\]\((?:\./)?(?:docs?/|LICEN[SC]E|CONTRIBUTING|CHANGELOG|SECURITY|examples?/)")
_HELPS = re.compile(
    r"\b(?:let me know|tell me|feel free to ask|I(?:'ll| can| will| would)|shall I|want me to)\b", re.IGNORECASE
)
_ABOVE, _CHAPTERS = 2_000, 3  # characters in which badges stand; chapters without any


def _chapters(given: Given) -> int:
    said = [found.group() for found in _CHAPTER.finditer(given.said)]
    return len({one.strip("# \n=-").casefold() for one in said if one.startswith("#") or one.endswith(("=", "-"))})


def _has_badge(given: Given) -> bool:
    return _BADGE.search(given.text, 0, _ABOVE) is not None


def _is_readme(given: Given) -> bool:
    """Return whether a text begins with a title or a badge, and has the chapters of a project's description, without an
    offer to help."""
    if _HELPS.search(given.said):
        return False
    return _TITLED.match(given.text) is not None and _chapters(given) >= (1 if _has_badge(given) else _CHAPTERS)


def _is_published(given: Given) -> bool:
    """Return whether the project stands somewhere: it has a badge or a logo, or files to which it links, and serves
    models."""
    return _has_badge(given) or (given.serves and _OWN_FILE.search(given.text) is not None)


DOCUMENTS = (
    Shape(Pasted.PAGE, _is_page, always),
    Shape(Pasted.NO_TEXT, _is_head, always),
    Shape(Pasted.DIFF, _is_diff, _changes_a_parser),
    Shape(Pasted.TEMPLATE, having(_TEMPLATE, _TEMPLATE_OF), having(_OF_CHATS)),
    Shape(Pasted.CARD, _is_card, having(_OF_A_MODEL)),
    Shape(Pasted.README, _is_readme, _is_published),
)
SETTINGS = (
    Shape(Pasted.SCRIPT, _is_script, always),
    Shape(Pasted.OPTIONS, _is_options, always),
    Shape(Pasted.OPTIONS, _is_settings, _set_a_server),
    Shape(Pasted.SOURCE, _is_source, never),
)
