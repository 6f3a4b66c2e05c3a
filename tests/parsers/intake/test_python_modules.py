"""Files of Python that are read as trees: values, calls of functions, other files, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake.python_functions import ITEMS, TEXT, UnresolvedError, many, plain, within
from parsers.intake.python_modules import LARGEST, ReadModule, read_module
from parsers.intake.python_values import Outside

KINDS = {"R": ("x", "y")}
BEFORE = """
import copy, functools, json
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from elsewhere import other

NAMES = {"a": 1, "b": [2, 3]}
TEXTS = ["p", "q"]


@dataclass
class Call:
    name: str
    arguments: dict = field(default_factory=dict)
    more: int = field(default=7)


class Pair(NamedTuple):
    left: int
    right: int = 2


def doubled(text, times=2, *rest, end="", **named):
    return text * times + end + "".join(rest) + "".join(named)


def words(text):
    found, current = [], ""
    for char in text:
        if char == " ":
            if not current:
                continue
            found.append(current)
            current = ""
            continue
        if char == ".":
            break
        current += char
    else:
        found += ["end"]
    return found + [current]


def counted(number):
    total = 0
    while number:
        number -= 1
        if number == 100:
            break
        total += number
    else:
        total += 1000
    return total


def nothing():
    pass


def nested():
    def inner(value):
        return value + 1

    return inner(1)


@functools.cache
def kept(value=None):
    \"\"\"Words.\"\"\"
    assert value is None
    table: dict = {"a": [1]}
    table["a"] += [2]
    table["b"] = table["a"][0]
    table["b"] += 1
    only: int
    return table


WITH_END = functools.partial(doubled, "a", end="!")
"""
VALUES: list[tuple[str, Any]] = [
    ("'a' 'b' + \"c\"", "abc"),
    ("-1 + +2 * 3 // 2 - 7 % 4 / 2", 0.5),
    ("[1, *TEXTS, (2, 3), {4}]", [1, "p", "q", (2, 3), {4}]),
    ("{'k': 1, **NAMES}", {"k": 1, "a": 1, "b": [2, 3]}),
    ("NAMES | {'c': 3 & 1}", {"a": 1, "b": [2, 3], "c": 1}),
    ("'%s and %d' % ('a', 3)", "a and 3"),
    ("f'{NAMES[\"a\"]:03d}{TEXTS!r}{\"é\"!a}{1!s}{2:>{NAMES[\"a\"]}}'", "001['p', 'q']'\\xe9'12"),
    ("not NAMES or 'b' in NAMES and 'c' not in NAMES", True),
    ("0 or '' or 'last'", "last"),
    ("1 < 2 <= 2 != 3 > 2 >= 2 == 2", True),
    ("1 < 2 < 2", False),
    ("None is None and 1 is not None", True),
    ("[1] == [1]", True),
    ("'yes' if TEXTS else 'no'", "yes"),
    ("'yes' if [] else 'no'", "no"),
    ("'abcdef'[1:5:2] + 'abc'[-1] + 'abc'[:1]", "bdca"),
    ("[a + b for a in TEXTS for b in 'xy' if b != 'y']", ["px", "qx"]),
    ("{a: n for n, a in enumerate(TEXTS, 1)}", {"p": 1, "q": 2}),
    ("sorted({len(a) for a in TEXTS})", [1]),
    ("''.join(a.upper() for a in reversed(TEXTS))", "QP"),
    ("list(zip(range(2), TEXTS, strict=True))", [(0, "p"), (1, "q")]),
    ("[min(3, 1), max([1, 2]), max(2, 3), min([4]), sum([1, 2]), abs(-1), ord('a'), chr(98)]",
     [1, 2, 3, 4, 3, 1, 97, "b"]),
    ("[any([0, 1]), all([0, 1]), bool(0), int('3'), float('1.5'), str(2), repr('a')]",
     [True, False, False, 3, 1.5, "2", "'a'"]),
    ("[list('ab'), tuple([1]), set([1]), dict(a=1), dict([('b', 2)]), list()]",
     [["a", "b"], (1,), {1}, {"a": 1}, {"b": 2}, []]),
    ("isinstance(1, bool) or isinstance('a', (int, str))", True),
    ("json.dumps({'b': [1, None]}, separators=(',', ':'))", '{"b":[1,null]}'),
    ("json.dumps([1], indent=1)", "[\n 1\n]"),
    ("json.loads('[1]')", [1]),
    ("[copy.copy([1]), copy.copy((1,)), copy.deepcopy({'a': [(1,)]})]", [[1], (1,), {"a": [(1,)]}]),
    ("other.ChatCompletionToolsParam.model_validate({'a': 1})", {"a": 1}),
    ("'a-b'.replace('-', '+').removeprefix('a')", "+b"),
    ("'a'.replace('a', 'b', 1)", "b"),
    ("b'ab'.decode()", "ab"),
    ("[*NAMES.items(), *NAMES.keys(), *NAMES.values()]", [("a", 1), ("b", [2, 3]), "a", "b", 1, [2, 3]]),
    ("NAMES.get('z', 5)", 5),
    ("Call('f').arguments", {}),
    ("[Call('f', more=1).more, Call(name='f').more, Call('f', {'a': 1}).arguments['a']]", [1, 7, 1]),
    ("[Pair(1).left, Pair(1).right]", [1, 2]),
    ("replace(Call('f'), name='g').name", "g"),
    ("doubled('a')", "aa"),
    ("doubled(*['a', 3], 'r', end='!', k=1)", "aaa!rk"),
    ("WITH_END(1)", "a!"),
    ("(lambda a, b=2: a + b)(1)", 3),
    ("words('a  b c. d')", ["a", "b", "c"]),
    ("words('a b')", ["a", "end", "b"]),
    ("counted(3)", 1003),
    ("counted(102)", 101),
    ("[nothing(), nested(), kept()]", [None, 2, {"a": [1, 2], "b": 2}]),
]  # fmt: skip


def read(source: str, **modules: str) -> ReadModule:
    found = read_module(source, KINDS, {"build": "KEYS"}, modules.get if modules else None)
    assert found is not None
    return found


@pytest.mark.parametrize(("words", "value"), VALUES)
def test_an_expression_has_the_value_that_it_has_in_python(words: str, value: Any) -> None:
    found = read(f"{BEFORE}\nR({words})\n")
    assert found.skipped == []
    (record,) = found.records
    assert record.fields["x"] == value


UNKNOWN: list[tuple[str, str]] = [
    ("other", "elsewhere.other is of another file"),
    ("other.thing(1)", "elsewhere.other is of another file"),
    ("[other]", "a value is made by something else"),
    ("other or 1", "elsewhere.other is of another file"),
    ("other == 1", "elsewhere.other is of another file"),
    ("other is None", "elsewhere.other is of another file"),
    ("f'{other}'", "a value is made by something else"),
    ("[a for a in other]", "a loop goes over what is not known"),
    ("isinstance(other, str)", "isinstance asks for a class of another file"),
    ("isinstance(1, other)", "isinstance asks for a class of another file"),
    ("nowhere", "nowhere is not known in this file"),
    ("nowhere()", "nowhere is not known in this file"),
    ("1 // 0", "ZeroDivisionError: integer division or modulo by zero"),
    ("{}['a']", "KeyError: 'a'"),
    ("'a' + 1", 'TypeError: can only concatenate str (not "int") to str'),
    ("await x", "an expression of this kind (Await) is not read"),
    ("(yield)", "an expression of this kind (Yield) is not read"),
    ("1 @ 2", "an operator of this kind (MatMult) is not read"),
    ("2 ** 9", "an operator of this kind (Pow) is not read"),
    ("~1", "KeyError: <class 'ast.Invert'>"),
    ("'a' * 10**9", "an operator of this kind (Pow) is not read"),
    ("'a' * 999999999", "the file asks for too much work"),
    ("[0] * 250000", "a value has more than 200,000 parts"),
    ("('a' * 2000).replace('a', 'b' * 2000)", "a text is too long"),
    ("('a' * 2000).join(['b'] * 2000)", "a text is too long"),
    ("f'{1:99999}'", "a pattern asks for too much"),
    ("'%9999d' % 1", "a pattern asks for too much"),
    (f"{2**255} * {2**255}", "a number is too large"),
    ("range(10000000)", "a range is too long"),
    ("'a'.format(1)", "a method .format() is not known here"),
    ("1 .bit_length()", "a method .bit_length() is not known here"),
    ("'a'.nothing", "an attribute .nothing is not known here"),
    ("Call('f').nothing", "an attribute .nothing is not known here"),
    ("Call('f').arguments()", "what is called is not known"),
    ("json.dumps([1], default=str)", "json.dumps is asked for what is not known here"),
    ("json.dumps([1], indent=99)", "json.dumps is asked for what is not known here"),
    ("json.dumps(other)", "a value is made by something else"),
    ("json.nothing(1)", "json is of another file"),
    ("Call(other=1)", "Call has no field other"),
    ("Pair(1, 2, 3)", "Pair has fewer fields"),
    ("replace(other, a=1)", "elsewhere.other is of another file"),
    ("replace(1, a=1)", "what is replaced is no record"),
    ("doubled()", "a call leaves out text"),
    ("counted(1, 2)", "a call gives more than its function takes"),
    ("counted(1, a=2)", "a call gives more than its function takes"),
    ("functools.cache(1)", "functools.cache is of another file"),
    ("frozenset([1])", "KeyError: 'frozenset'"),
]


@pytest.mark.parametrize(("words", "why"), UNKNOWN)
def test_what_a_file_does_not_tell_is_said_and_no_value_is_made_up(words: str, why: str) -> None:
    found = read(f"{BEFORE}\nR({words})\n")
    told = [one.why for one in found.skipped]
    assert (found.records, told) == ([], [why])


FILES: list[tuple[str, list[Any], list[str]]] = [
    ("A = [R(1), R(other), R(y=2)]", [1, None], ["other is not known in this file"]),
    ("R(1, 2, 3)\nR(z=1)\nR(*[1])", [1], ["R has fewer fields", "R has no field z"]),
    ("x = open('f').read()\nR(x)", [], ["open is not known in this file"]),
    ("def make(n):\n    return R(n)\nfor n in [1, 2]:\n    make(n)", [1, 2], []),
    ("def make(n):\n    return R(n)", [], ["n is a parameter of make"]),
    ("def make(n):\n    return R(n)\nmake(1)\nmake(other)", [1], ["other is not known in this file"]),
    ("def test_a(a, *b, c=1, **d):\n    t = 3\n    return R(t)\n    R(4)", [3],
     ["it is not known whether it is reached"]),
    ("class TestA:\n    V = R(1)\n    def test(self):\n        if self.x:\n            R(2)\n        R(3)", [1, 3],
     ["it is not known whether it is reached"]),
    ("class TestA:\n    def test(self):\n        with f():\n            v = R(2)\n        R(v)", [],
     ["it is not known whether it is reached", "a statement of this kind (With) is not read"]),
    ("a, *b = 1, 2\nR(a)", [], ["a value is given to what is not read"]),
    ("def make():\n    return R(1)\nmake()\ndef test():\n    make()\n    R([other.x])\n    R(2)\n    R(2)", [1, 2, 2],
     ["a value is made by something else"]),
    ("@mark.parametrize('a', [R(1)])\ndef test(a):\n    pass\ntest()", [1], []),
    ("@wrap\ndef make():\n    return 1\nR(make())", [], ["make is made by a decorator"]),
    ("async def make():\n    R(1)\nR(make())", [], ["it is not known whether it is reached", "an async function"]),
    ("if other:\n    A = 1\nelse:\n    A = 2\nR(A)", [], ["other is not known in this file"]),
    ("if 1:\n    A = 1\nelse:\n    A = 2\nR(A)", [1], []),
    ("A: int\nB: int = 2\nR(B)", [2], []),
    ("A = []\nA.append(R(1))\nB = A\nB += [2]\nR(len(A))", [1, 2], []),
    ("A = {}\nA[0], (B, C) = 1, (2, 3)\nR([A, B, C])", [[{0: 1}, 2, 3]], []),
    ("A = 1\nA.b = 2\nA.b += 1\nR(A)", [1], []),
    ("def f(a):\n    return f(a)\nR(f(1))", [], ["functions call each other too deeply"]),
    ("def f():\n    while True:\n        pass\nR(f())", [], ["the file asks for too much work"]),
    ("def f(a):\n    check(a)\n    return a\nR(f(1))", [1], []),
    ("def f(a):\n    a.append(check(a))\n    return a\nR(f([1]))", [], ["check is not known in this file"]),
    ("def f(a):\n    raise ValueError\nR(f(1))", [], ["a statement of this kind (Raise) is not read"]),
    ("def f(a):\n    return {'a': [R(a)]}\ndef g(a):\n    R(0)\n    return f(a)\ng(1)", [1, 0], []),
    ("from dataclasses import replace\nA = R(1, 2)\nreplace(A, x=3)", [1, 3], []),
    ("from dataclasses import replace\ndef f():\n    return replace(R(1, 2), x=3)\nf()", [3], []),
    ("@dataclass\nclass R:\n    x: int\n    y: int = 5\nR(1).y\nR(x=2)", [1, 2], []),
    ("def make():\n    return R(1)\ndef test_a():\n    make()\ndef test_b():\n    make()\n    return", [1], []),
    ("class R:\n    def __init__(self, x):\n        pass\nR(1)", [1], []),
    ("class A(Base):\n    x: int\nR(A(1))", [], ["A is a class with more than fields"]),
    ("from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: int = field(default_factory=lambda: 1)\n"
     "R(A().x + 1)", [], ["TypeError: unsupported operand type(s) for +: 'Outside' and 'int'"]),
    ("KEYS = {'a': 1, 'b': 2}\ndef build(key):\n    if key == 'b':\n        other.x\n        return other()\n"
     "    return R(key)", ["a"], ["b: other is not known in this file"]),
    ("KEYS = [1]\ndef build(key):\n    return R(key)", [], ["key is a parameter of build"]),
    ("import a.b as c, a.b\nR(c.x)\nR(a.b)", [], ["a.b is of another file", "a is of another file"]),
    ("break\nR(1)", [], ["it is not known whether it is reached"]),
    ("x = '\\d'\nR(x)", ["\\d"], []),
    ("(" * 60 + "R(1)" + ")" * 60, [1], []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "values", "why"), FILES)
def test_a_file_gives_the_records_that_it_makes(source: str, values: list[Any], why: list[str]) -> None:
    found = read(source)
    assert [one.fields.get("x") for one in found.records] == values
    assert [one.why for one in found.skipped] == why


MADE = "def build(n):\n    return R(f'{n}')\nA = build(1)\n"
LOST: list[tuple[str, list[Any], list[int]]] = [  # behind MADE: what is read, and the lines of what is lost
    ("B = build(2)", ["2"], []),
    ("B = build(os.getpid())", [], [4]),
    ("B = [\n    build(2),\n    build(os.getpid()),\n    build(3)]", ["2", "3"], [6]),
    ("B = [build(2), build(os.getpid()), build(os.getpid())]", ["2"], [4, 4]),
    ("for n in [3, 4]:\n    m = n + os.x\n    build(m)", [], [6]),
    ("for n in [3, 4, 'a']:\n    m = n + 1\n    build(m)", ["4", "5"], [6]),
    ("while os.x:\n    build(2)", [], [5]),
    ("B = [build(n) for n in os.listdir()]", [], [4]),
    ("B = {k: build(k) for k in (1, os.x())}", [], [4]),
    ("B = list(map(build, [1]))", [], [4]),
    ("if os.x:\n    B = build(2)", [], [5]),
    ("B = build(2) if os.x else build(3)", [], [4]),
    ("build(os.x())", [], [4]),
    ("h.go(build(os.x()))", [], [4]),
    ("B = build(*os.x)\nC = build(**os.x)", [], [4, 5]),
    ("mk = lambda n: build(n)\nB = mk(2)\nC = mk(os.x())", ["2"], [6]),
    ("mk = build\nB = mk(2)\nC = mk(os.x())", ["2"], [6]),
    ("from functools import partial\nmk = partial(build)\nB = mk(2)\nC = mk(os.x())", ["2"], [7]),
    ("S = R\nB = S(2)\nC = S(os.x())", [2], [6]),
    ("from dataclasses import replace\nB = replace(A, x=2)\nC = replace(A, x=os.x())", [2], [6]),
    ("def pair(n):\n    return build(n), build(n + 1)\nB = pair(1)\nC = pair(os.x())", ["1", "2"], [7]),
    ("from helpers import make\nB = make(2)\nC = make(os.x())", [2], [6]),
    ("B: list[R] = load('x')", [], [4]),
    ("class T:\n    B = build(os.x())", [], [5]),
    ("class T:\n    def made(self):\n        return build(os.x())\n    def test(self):\n        self.made()",
     [], [6, 8]),
    ("def test_a():\n    B = build(os.x())", [], [5]),
    ("def test_a(x):\n    if x:\n        build(2)\n    for y in x:\n        build(y)", [], [6, 8]),
    ("@mark.parametrize('n', [2, 3])\ndef test_a(n):\n    B = build(n)", [], [6]),
    ("@mark.parametrize('n', [build(2), build(os.x())])\ndef test_a(n):\n    pass", ["2"], [4]),
    ("async def test_a():\n    build(2)", [], [5]),
    ("with open('f') as f:\n    B = build(f.read())", [], [5]),
    ("try:\n    B = build(2)\nexcept E:\n    pass", [], [5]),
    ("assert build(2)", [], [4]),
    ("B = sorted([build(2)], key=len)\nC = build(3).y.z", ["2", "3"], []),
    ("'a'.replace('a', os.x())\nother.replace(1, os.x())", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "values", "lines"), LOST)
def test_no_record_of_a_function_that_others_are_made_by_is_lost_in_silence(
    source: str, values: list[Any], lines: list[int]
) -> None:
    found = read(MADE + source, **OTHERS)
    assert [one.fields["x"] for one in found.records] == ["1", *values]
    assert [one.line for one in found.skipped] == lines
    assert all(one.why for one in found.skipped)


OTHERS = {
    "helpers": "TOOLS = ['t']\nfrom deeper import *\nfrom deeper import MORE\nR(0)\ndef make(a):\n    return R(a)",
    "deeper": "MORE = [1]\nimport helpers",
    "package": "from .inner import ONE",
    "package.inner": "ONE = 1",
    ".inner": "ONE = 1",
    "broken": "def",
}


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("from helpers import TOOLS, MORE\nR(TOOLS + MORE)", [["t", 1]]),
        ("from helpers import make, TOOLS\nR(TOOLS)\nmake(2)", [["t"], 2]),
        ("import helpers as h\nR(h.TOOLS)\nR(h.MORE)", [["t"], [1]]),
        ("from package import inner\nR(inner.ONE)", [1]),
        ("from package import ONE\nR(ONE)", [1]),
        ("from .inner import ONE\nR(ONE)", [1]),
        ("from broken import ONE\nR(ONE)\nR(1)", [1]),
        ("from nowhere import ONE\nR(ONE)\nR(1)", [1]),
        ("from helpers import nothing\nR(nothing)\nR(1)", [1]),
    ],
)
def test_what_another_file_says_is_read_where_it_is_there(source: str, values: list[Any]) -> None:
    found = read(source, **OTHERS)
    assert [one.fields["x"] for one in found.records] == values
    assert len(found.skipped) == source.count("R(") - len(values) + (1 if "make" in source else 0)


def test_the_key_that_records_are_built_for_is_known() -> None:
    found = read("KEYS = {'a': 1}\ndef build(key):\n    return [R(key)]\nR(1)")
    assert [(one.under, one.line, one.kind) for one in found.records] == [("", 4, "R"), ("a", 3, "R")]


@pytest.mark.parametrize("source", ["def", "R(1\0)", " " * (LARGEST + 1), "(" * 300])
def test_what_is_no_python_is_none(source: str) -> None:
    assert read_module(source, KINDS, {}) is None


def test_an_expression_that_is_nested_too_deeply_is_not_read() -> None:
    found = read_module("R(" + "-" * 900 + "1)\nR(2)", KINDS, {})
    assert found is None or [one.fields["x"] for one in found.records] in ([2], [1, 2], [])


@pytest.mark.parametrize("value", [[[0] * ITEMS, 1], Outside("a"), {1: Outside("a")}])
def test_values_that_are_too_large_or_not_plain_are_refused(value: Any) -> None:
    with pytest.raises(UnresolvedError):
        plain(value)


def test_values_have_bounds() -> None:
    assert (within("a"), many("ab"), plain([{1: (2,)}])) == ("a", ["a", "b"], [{1: (2,)}])
    for value in ("a" * (TEXT + 1), [0] * (ITEMS + 1), 1 << 300):
        with pytest.raises(UnresolvedError):
            within(value)


@given(st.text(max_size=200))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    found = read_module(f"{text}\nR({text})", KINDS, {"build": "KEYS"})
    assert found is None or isinstance(found.records, list)
