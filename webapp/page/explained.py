"""What a finding means: the check's definition, why it matters, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from parsers.checks import CHECKS

WHY: dict[str, str] = {
    "C1": "A server cuts its output wherever tokens, batches and the network happen to end. A parser whose answer "
    "depends on that fails now and then, and nobody can repeat it.",
    "C2": "The same request then gives another answer with streaming than without.",
    "C3": "A client has already shown or used what was sent. What is taken back later cannot be unsaid.",
    "C4": "A parser that keeps something from the last output mixes the answers of two requests.",
    "C5": "Text and token ids that disagree make a parser by ids and one by text read different outputs.",
    "A1": "Text that goes nowhere is an answer or an argument that the user never gets.",
    "A2": "The model said something and the client gets an empty message.",
    "A3": "The client gets text that the model never wrote.",
    "A4": "The client gets the same text twice, or once as text and once as an argument.",
    "A5": "A token that is counted twice or never puts text and ids out of step from there on.",
    "L1": "The reader sees raw markup, and the call it belongs to is usually lost.",
    "L2": "A call inside the reasoning is never run.",
    "L3": "A tool is called with markup in its name or its arguments.",
    "L4": "Part of a marker has been shown to the reader before the parser could know it was one.",
    "L5": "Tokens that only steer the model are no part of the answer.",
    "L6": "The model called a tool and the client never hears of it.",
    "L7": "Text that is held longer than needed arrives late or in one lump.",
    "N1": "Clients open a call when its name comes; arguments before it have nowhere to go.",
    "N2": "Clients take a delta without name or content for a call of its own, or fail on it.",
    "N3": "The client has no such tool: the call fails or is refused.",
    "N4": "Clients put calls together by their index. A wrong one mixes the arguments of two calls.",
    "N5": "The answer to a call is sent back under its id; without a stable one it cannot be matched.",
    "N6": "Clients that finish a call when the next one begins lose what comes for it later.",
    "J1": "Clients parse the arguments as JSON; what is not JSON is a failed call.",
    "J2": "Clients that show arguments while they stream parse what they have so far.",
    "J3": "The call has ended and its arguments have not: the rest comes too late, or never.",
    "Y1": "The tool refuses the call, or runs with a value it does not expect.",
    "Y2": "The tool gets another text than the model wrote.",
    "Y3": "The value depends on the declared type alone; another client may get another value.",
    "Y4": "The tool is called with another value than the model wrote.",
    "U1": "A damaged character cannot be repaired by the client.",
    "R1": "Whether the prompt opened the reasoning decides where the whole output goes.",
    "R2": "The reader gets an empty answer although the model wrote one.",
    "R3": "Answer and reasoning are mixed up at the marker between them.",
    "F1": "What is still held at the end never reaches the client.",
    "F2": "An output that was cut off is a normal event; it must not turn into a complete call nobody made.",
    "F3": "Clients decide by the finish reason whether to run the calls.",
    "E1": "An exception ends the stream, and often the request with it.",
    "E2": "One damaged call must not take the rest of the answer with it.",
    "B1": "The serving layer reads these lists beside the parser; out of step they crash the request.",
    "P1": "A long argument takes so long that the stream stalls.",
    "P2": "The reader waits although the text is known.",
    "P3": "Long arguments are cut without a word.",
    "M1": "What stands beside a call must not change it.",
    "M2": "Tools get code, HTML and prompts as arguments, and these hold markers and quotes of every kind.",
    "M3": "Without tools, or with tool_choice none, the output is an answer and nothing else.",
    "M4": "The next request holds the calls as the chat template writes them; they must read the same again.",
    "K1": "Client libraries add the deltas up, and get another message than the server meant.",
    "K2": "The server's own log tells another story than this replay.",
    "K3": "Clients read chunks by the API's shape; what has another one they refuse, or do not see.",
}
DO = {
    "parser": "Share this case, or take the smallest failing form if there is one, and send it to the project whose "
    "parser this is. Until it is mended, another chunking or a later check on the client may help.",
    "output": "The parser is right: the model wrote this. Look at the prompt, the tool's schema and the sampling "
    "settings, or let a policy say what should happen to it.",
    "request": "Change the request (its tools, its tool_choice, what it says about the end of the prompt), or "
    "the parser and the chat template that the server runs with.",
}
CONTRACT = "Nothing has to be mended: a policy of the parser says that this is how it works. Another value of the " \
    "policy, in the setup above, gives another result."  # fmt: skip


@dataclass(slots=True, frozen=True)
class Explained:
    """One check, explained for one kind of finding. `word` is what production logs call it."""

    definition: str
    why: str
    todo: str
    word: str


@cache
def explained(check: str, about: str, policy: str = "") -> Explained:
    """What a finding of `check` means. A check of a parser's own notes is not in the list and has no definition."""
    known = CHECKS.get(check)
    todo = CONTRACT if policy else DO[about]
    if known is None:
        return Explained("", "", todo, "")
    return Explained(known.definition, WHY.get(known.id, ""), todo, known.word)
