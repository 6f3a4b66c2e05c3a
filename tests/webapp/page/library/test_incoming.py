from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Callable

import pytest

from parsers.vocabulary.types import UsageError
from webapp.page.library import incoming as module
from webapp.page.library.incoming import incoming

CASE = '{"schema":1,"parser":{"name":"qwen"},"input":{"text":"x"}}'


def archive(*members: tuple[str | zipfile.ZipInfo, str | bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", kind) as file:
        for name, data in members:
            file.writestr(name, data)
    return made.getvalue()


def told(name: str, data: bytes, line: int | None = None) -> list[tuple[str, str]]:
    """The cases as (name, "case"), and those that are none as (name, why)."""
    found = incoming(name, data, line)
    return [(one.name, str(one.text) if isinstance(one.text, UsageError) else "case") for one in found]


TEXTS = [
    (CASE, [("f", "case")]),
    (f"\ufeff{CASE}", [("f", "case")]),
    (json.dumps({"a": json.loads(CASE), "b": 1}), [("f::a", "case"), ("f::b", "case")]),
    (f"{CASE}\n\n{CASE}\n", [("f::1", "case"), ("f::3", "case")]),
    (f"{CASE}\n" + '{"broken": \n' + f"{CASE}\n", [("f::1", "case"), ("f::2", "case"), ("f::3", "case")]),
    ("{}", [("f", "it holds no case")]),
]


@pytest.mark.parametrize(("text", "found"), TEXTS)
def test_a_file_holds_one_case_or_many(text: str, found: list[tuple[str, str]]) -> None:
    assert told("f", text.encode()) == found


@pytest.mark.parametrize("data", [b"\xff\xfe", b"{", b"no json"])
def test_what_is_no_json_is_one_failure(data: bytes) -> None:
    ((name, why),) = told("f", data)
    assert name == "f"
    assert why != "case"


def test_an_archive_holds_files_of_cases_and_others_are_passed_over() -> None:
    data = archive(("a/x.case.json", CASE), ("y.jsonl", f"{CASE}\n{CASE}"), ("README", "hi"), ("b/", ""))
    assert [name for name, _ in told("z", data)] == ["z/a/x.case.json", "z/y.jsonl::1", "z/y.jsonl::2"]


def link() -> zipfile.ZipInfo:
    made = zipfile.ZipInfo("link.json")
    made.external_attr = (stat.S_IFLNK | 0o777) << 16
    return made


TRICKS: list[tuple[str | zipfile.ZipInfo, str]] = [
    ("../x.json", "leads out"),
    ("a/../../x.json", "leads out"),
    ("/etc/x.json", "leads out"),
    ("..\\x.json", "leads out"),
    ("C:x.json", "leads out"),
    (link(), "it is a link"),
]


@pytest.mark.parametrize(("name", "why"), TRICKS, ids=[str(number) for number in range(len(TRICKS))])
def test_a_name_that_leads_elsewhere_is_refused_and_the_others_come(name: str | zipfile.ZipInfo, why: str) -> None:
    found = told("z", archive((name, CASE), ("good.json", CASE)))
    assert why in found[0][1]
    assert found[1] == ("z/good.json", "case")


def test_a_bomb_is_refused_before_it_is_unpacked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SMALL", 1_000)
    found = told("z", archive(("bomb.json", " " * 3_000_000), ("good.json", CASE)))
    assert found[0][1].startswith("more than 200 times")
    assert found[1] == ("z/good.json", "case")


def test_many_members_that_are_small_are_too_much_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 3 * len(CASE))
    found = told("z", archive(*[(f"{n}.json", CASE) for n in range(9)]))
    assert [why for _, why in found[:2]] == ["case", "case"]
    assert "come out of the archive" in found[-1][1]
    assert len(found) < 5


def test_too_many_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MEMBERS", 2)
    ((_, why),) = told("z", archive(*[(f"{n}.json", CASE) for n in range(3)]))
    assert why == "the archive has 3 members; the limit is 2"


def with_size(data: bytes) -> bytes:
    """The archive with a size in it that is a lie: members say that they hold one byte."""
    at = data.index(b"PK\x01\x02") + 24
    return data[:at] + (1).to_bytes(4, "little") + data[at + 4 :]


def spoilt(data: bytes) -> bytes:
    at = data.index(b"x.json") + len("x.json") + 2
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


DAMAGED: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda data: data[: len(data) // 2], "a damaged one, or not all of it is here"),
    (with_size, "cannot be unpacked"),
    (spoilt, "cannot be unpacked"),
    (lambda data: data.replace(b"\x08\x00", b"\x63\x00"), "cannot be unpacked"),
]


@pytest.mark.parametrize(("damage", "why"), DAMAGED, ids=["cut off", "lies", "spoilt", "unknown method"])
def test_a_damaged_archive_is_said_to_be_one(damage: Callable[[bytes], bytes], why: str) -> None:
    found = told("z", damage(archive(("x.json", CASE * 30))))
    assert [why in said for _, said in found] == [True]


def test_an_archive_without_any_case_file_says_so() -> None:
    for data in (archive(), archive(("README.md", "hi"))):
        (one,) = incoming("x.zip", data)
        assert str(one.text) == "it has no member that ends in .json or .jsonl"


def encrypted(data: bytes) -> bytes:
    """The archive as if its first member had a password."""
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(mark) + flags
        data = data[:at] + bytes([data[at] | 1]) + data[at + 1 :]
    return data


def test_a_member_with_a_password_is_one_failure() -> None:
    found = told("z", encrypted(archive(("secret.json", CASE), ("good.json", CASE))))
    assert found == [
        ("z/secret.json", "it is encrypted: give an archive without a password"),
        ("z/good.json", "case"),
    ]


@pytest.mark.parametrize("name", ["in.zip", "in.json"])
def test_an_archive_inside_of_one_is_one_failure(name: str) -> None:
    found = told("z", archive((name, archive(("x.json", CASE))), ("good.json", CASE)))
    assert [title for title, _ in found] == [f"z/{name}", "z/good.json"]
    assert found[0][1].startswith("it is an archive inside of another: unpack that")
    assert found[1][1] == "case"


@pytest.mark.parametrize("kind", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_a_damaged_member_costs_itself_alone(kind: int) -> None:
    data = archive(("x.json", CASE * 30), ("good.json", CASE), kind=kind)
    at = data.index(b"x.json") + len("x.json")
    found = told("z", data[: at + 9] + bytes([byte ^ 0xFF for byte in data[at + 9 : at + 30]]) + data[at + 30 :])
    assert [title for title, _ in found] == ["z/x.json", "z/good.json"]
    assert found[0][1].startswith("it is damaged, and cannot be unpacked (")
    assert found[1][1] == "case"


def test_what_is_called_an_archive_and_is_none_says_so() -> None:
    ((name, why),) = told("x.zip", CASE.encode())
    assert (name, why.startswith("it is no zip archive, or a damaged one")) == ("x.zip", True)


def test_a_part_of_many_lines_has_their_numbers_whatever_its_first_line_is() -> None:
    found = told("f", b"{broken\n\n" + CASE.encode() + b"\n\xff\n", 201)
    assert [name for name, _ in found] == ["f::201", "f::203", "f::204"]
    assert [why == "case" for _, why in found] == [True, True, False]  # what is no JSON is told where it is read
    assert told("x.zip", CASE.encode(), 7) == [("x.zip::7", "case")]
