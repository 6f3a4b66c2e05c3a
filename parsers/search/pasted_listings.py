"""What commands print: the state of a machine, versions of what is installed, sessions of a shell, lists of changes.

Each is told by its form, line by line. A model that plays a terminal prints some of them as well: so it is sure where
it names what serves models, or where addresses, hashes and prompts stand that nobody makes up. (Output of pip, conda,
nvidia-smi, docker, kubectl, ollama, pytest, Prometheus, git and ps; `torch.utils.collect_env`, SGLang's `check_env`,
LMDeploy's, `transformers env`.)
"""

from __future__ import annotations

import re

from parsers.search.pasted_kinds import Given, Pasted, Shape, always, serving
from parsers.search.pasted_lines import Line, line_of

_SETTING = re.compile(
    r"^\s{0,8}(?:[-*] )?(?:\[(?:pip3?|conda)\] )?[\w`][\w` .()/+,-]{0,70}(?::(?:\s|$)|==| {2,}v?\d)|^[=_\s-]{5,}$"
    r"|^\s{2,}\S|^(?:GPU|NIC)\d+\s"
)
# What tells of a machine that runs models, at the beginning of a line.
_SYSTEM = re.compile(
    r"^\s{0,8}(?:[-*] )?(?:\[(?:pip3?|conda)\] )?(?:Collecting environment information|PyTorch(?: version)?(?=\s*:)"
    r"|Is debug build|CUDA used to build PyTorch|GCC version|Libc version|Clang version|CMake version|Python version"
    r"|Python platform|(?:Is )?(?:CUDA|ROCM|ROCm|MUSA|NPU) available|Is XNNPACK available|CUDA runtime version"
    r"|(?:CUDA|ROCM|ROCm|Nvidia) driver version|cuDNN version|vLLM Version|OS\s*:|GPU models and configuration"
    r"|(?:HIP|MIOpen) runtime version|(?:CUDA|ROCM|ROCm)_HOME|NVCC\s*:|HIPCC\s*:|NVIDIA Topology|Hypervisor vendor"
    r"|GPU [\d,]{1,60}(?: Compute Capability)?\s*:|Python\s*:(?= \d+\.\d+\.\d+ \()|sys\.platform"
    r"|Platform\s*:(?= \S+-\S+-)"
    r"|Linux \d+\.\d+\.\d+|Huggingface_hub version|Safetensors version|Accelerate version|ollama version is"
    r"|NVIDIA-SMI \d|built with \S+ \("
    r"|Device \d+: (?:NVIDIA|AMD)|Vulnerability \w|ulimit soft|On-line CPU\(s\) list|CPU op-mode"
    r"|`?(?:torch|vllm|sglang|sgl[_-]kernel|transformers|numpy|triton|tokenizers|flashinfer(?:[-_]python)?|xgrammar"
    r"|openai|lmdeploy)`?(?: version)?\s*(?:==|: | {2,}v?\d))",
    re.MULTILINE | re.IGNORECASE,
)
_PACKAGE = re.compile(
    r"^(?:[A-Za-z0-9][\w.-]{0,80}(?:\[[\w,]{1,60}\])?(?:==\S{1,60}| @ (?:file|git\+https?|https?)://\S{1,300})"
    r"|-e (?:git\+)?\S{1,300}|#.{0,200}|--\S{1,200}|Package {2,}Version.{0,60}|[-\s]{5,}"
    r"|[A-Za-z0-9_][\w.-]{0,80} {1,60}v?\d[\w.+!-]{0,40}(?: .{0,120})?)$"
)
_PINNED = re.compile(r"^[A-Za-z0-9][\w.-]{0,80}(?: @ (?:file|git\+https?)://|==\d)", re.MULTILINE)
_FROM_FILE = re.compile(r"^[A-Za-z0-9][\w.-]{0,80} @ (?:file|git\+https?)://", re.MULTILINE)
_LISTED = re.compile(
    r"^(?:Package {2,}Version|# packages in environment at |# Name {4,}Version|\[\[package\]\]$)", re.MULTILINE
)
_LOCKED = re.compile(r"^\[\[?package[\w.]*\]\]?$|^[\w-]{1,40} = .|^\s*[\]{}\[]|^ {4}\{file = ")
_MEMORY = re.compile(r"NVIDIA-SMI|\d ?MiB \|")
_BOXED = re.compile(r"^(?:\+[-=+]{5}|\|={5})", re.MULTILINE)
_SMI = re.compile(r"^[|+=\s].*[|+=]\s*$|^\w{3} \w{3} {1,2}\d{1,2} \d{2}:\d{2}:\d{2} \d{4}\s*$")
# What commands print first. A model that plays a terminal may print these.
_COMMAND = re.compile(
    r"\A(?:\$ .{1,200}\n)? {0,8}(?:CONTAINER ID +IMAGE|REPOSITORY +TAG +IMAGE ID|NAME {2,90}(?:READY|STATUS|TYPE|ID) "
    r"|NAMESPACE +NAME|LAST SEEN +TYPE|GPU \d+: .{1,80}\(UUID: |nvcc: NVIDIA|Architecture: {1,30}\w"
    r"|total \d+\n[-dl]r|# (?:HELP|TYPE) \w|Name: [\w.-]+\nVersion: \S+\nSummary:|[●○×] [\w@.-]+\.service"
    r"|Name: {4,20}\S+\nNamespace: |[\w., ]{0,80}\bmemory\.\w+ \[MiB\]|Model\n {4}(?:architecture|arch) "
    r"|model {2,20}size {2,20}params|nginx: \[\w+\]|\w+ version \d[\w.]{0,30}(?:, build .{1,60})?\n?\Z)",
)
# These hold what nobody makes up: kernels, processes, sizes of disks, results of tests, faults, calls of a system.
_STATE = re.compile(
    r"\A {0,8}(?:Linux \S+ \d+\.\d+\.\S+ #\d|Darwin \S+ \d+\.\d+\.\d+ |top - \d\d:\d\d:\d\d up |USER {2,20}PID %CPU"
    r"|PID (?:USER|TTY)|Filesystem +\S*(?:Size|blocks) +Used|total +used +free|available: \d+ nodes? \(|Faulting app"
    r"|=+ ROCm System Management|=+ Autoscaler status: |=+ test session starts =+|running \d+ tests?\n|=== RUN "
    r"|--\d{4}-\d\d-\d\d \d\d:\d\d:\d\d--  \w|  % Total {2,6}% Received|> Task :\S{1,200} FAILED"
    r"|={3,80} (?:FAILURES|ERRORS|short test summary info) ={3,}|={3,80} [\w ]{4,60} ={3,80}\n[\w ()/-]{4,60}: {2,}\S"
    r"|(?:FAILED|ERROR|PASSED) \S{1,200}\.py::|\S{1,200}\.py::\S{1,200} (?:PASSED|FAILED)|--- FAIL: \w"
    r"|\s{0,2}(?:FAIL|PASS) {1,2}\S{1,200}\.(?:test|spec)\.|Collecting \S{1,80}\n {2}(?:Downloading|Using)"
    r"|Requirement already satisfied: \S|Found \d+ errors? in \d+ file"
    r"|[a-z_0-9]{3,20}\(.{0,400}\)\s+= (?:-?\d+|0x[0-9a-f]+)(?: E[A-Z]+ .*)?\n)",
)
_VARIABLES = re.compile(r"\A(?:HOSTNAME|SHELL|PWD|HOME|PATH|LANG)=\S.{0,400}\n[A-Z_]{2,40}=")
_VARIABLE = re.compile(r"^[A-Za-z_]\w{0,60}=")
# A prompt that names the machine, and what is typed and printed after one; histories of bash, zsh and fish.
_PROMPT = re.compile(
    r"\A\s*(?:\([\w.-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}:? ?(?:~|/)[\w./~ -]{0,100}[$#%] \S"
    r"|\[[\w.-]{1,40}@[\w.-]{1,60} [^\]\n]{1,80}\][$#] \S|PS [A-Z]:\\[^\n>]{0,100}> ?\S|: \d{10}:\d+;\S"
    r"|C:\\[^\n>]{0,100}>\S|- cmd: .{1,400}\n  when: \d{9,})"
)
_NUMBERED = re.compile(r"^\s{0,6}\d{1,5}[ *]{2}\S")  # as `history` prints what was typed
_ECHOED = re.compile(r"^\++ \S")  # as `sh -x` prints what it runs
_TYPED = re.compile(
    r"^(?:\s{0,6}\d{1,5}[ *]{2}|\++ )(?:sudo |nohup )?(?:cd|ls|cat|git|pip3?|uv|conda|docker|kubectl|curl|python3?|vim?"
    r"|nano|export|source|tail|tee|grep|history|ssh|make|nvidia-smi|vllm|sglang|ollama|llama-\w+|\./)\b"
)
# git log, git log --oneline, git blame, git diff --stat, git status; notes of a release.
_COMMIT = re.compile(r"\A\s*commit [0-9a-f]{7,40}(?: \(.{1,200}\))?\n(?:Merge: .{1,100}\n)?Author: .{1,200}\nDate: ")
_ONE_LINE = re.compile(
    r"^[*|\\/ ]{0,12}(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40} (?:\(.{1,200}\) )?\S|^[*|\\/ ]{1,12}$"
)
_BLAMED = re.compile(r"^\^?[0-9a-f]{7,40} .{0,200}\(.{1,80} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} +\d+\)")
_STAT = re.compile(r"^ \S.{0,200} \| +(?:\d+ [+-]*|Bin \d.*)$|^ \d+ files? changed")
_SHORT_STATUS = re.compile(r"^(?:[MADRCU ][MADRCU ]|\?\?|!!) \S{1,300}[./]\S{0,300}$")
_STATUS = re.compile(r"\A(?:On branch \S+|HEAD detached at \S+)\n")
_TOUCHED = re.compile(
    r"^(?:\t(?:modified|new file|deleted|renamed): |Changes |Untracked files:|nothing to commit|no changes)", re.M
)
_PULLED = re.compile(
    r"\s{0,4}[-*] .{1,400}(?:\bby @[\w-]{1,40}|\(#\d{1,7}\)|\bin (?:#\d{1,7}|https?://\S+/pull/\d+))\s*$"
)
_NOTES = re.compile(r"^(?:#+ |\*\*Full Changelog\*\*|\*\*[\w' ]{1,60}\*\*)|^\s*$")


def _systems(given: Given) -> int:
    return len({match.group().strip(" -*:`=").casefold() for match in _SYSTEM.finditer(given.text)})


def _is_environment(given: Given) -> bool:
    if _MEMORY.search(given.text) and _BOXED.search(given.text) and given.are(_SMI):
        return True
    if len(given.lines) >= 3 and _systems(given) >= 3 and given.are(_SETTING, _SYSTEM, _PACKAGE):
        return True
    return given.are(_PACKAGE, _LOCKED) and (bool(_LISTED.search(given.text)) or len(_PINNED.findall(given.text)) >= 3)


def _is_of_pip(given: Given) -> bool:
    """Return whether a list of packages says where each came from, or the machine, or names what serves models."""
    told = any(sign.search(given.text) for sign in (_FROM_FILE, _LISTED, _MEMORY))
    return told or _systems(given) >= 3 or given.serves


def _is_listing(given: Given) -> bool:
    return _COMMAND.match("\n".join(given.lines[:3])) is not None


def _is_state(given: Given) -> bool:
    if _VARIABLES.match(given.text):
        return given.are(_VARIABLE)
    return _STATE.match("\n".join(given.lines[:3]) + "\n") is not None


def _is_session(given: Given) -> bool:
    typed = len(given.lines) > 1 and any(given.are(one) for one in (_NUMBERED, _ECHOED))
    if typed and any(_TYPED.match(line) for line in given.lines):
        return True
    return _PROMPT.match(given.text) is not None


def _is_progress(given: Given) -> bool:
    return all(line_of(line) is Line.NOISE for line in given.lines) and "%" in given.text


def _is_history(given: Given) -> bool:
    text, few = given.text, len(given.lines) < 2
    if _COMMIT.match(text) or (_STATUS.match(text) and _TOUCHED.search(text)):
        return True
    return not few and any(given.are(one) for one in (_ONE_LINE, _BLAMED, _STAT, _SHORT_STATUS))


def _is_release(given: Given) -> bool:
    """Return whether it is a list of changes, nearly each of which names who made it, or its number."""
    pulled = [line for line in given.lines if _PULLED.match(line)]
    return len(pulled) > 1 and given.are(_PULLED, _NOTES)


LISTINGS = (
    Shape(Pasted.HISTORY, _is_history, always),
    Shape(Pasted.HISTORY, _is_release, always),
    Shape(Pasted.LISTING, _is_session, always),
    Shape(Pasted.LISTING, _is_state, always),
    Shape(Pasted.LISTING, _is_progress, always),
    Shape(Pasted.LISTING, _is_listing, serving),
    Shape(Pasted.ENVIRONMENT, _is_environment, _is_of_pip),
)
