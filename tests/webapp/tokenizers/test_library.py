"""The library: uploads, folders, packages and what the hub gave, by name; each refusal is one sentence."""

from __future__ import annotations

import base64
import json
import os
import resource
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from webapp.settings import get_settings
from webapp.tokenizers import installed, list_tokenizers, prepared
from webapp.tokenizers.installed import PACKAGES, Source, sources_in
from webapp.tokenizers.library import TokenizerLibrary, library, use
from webapp.tokenizers.prepared import read_note

Data = dict[str, Any]
Make = Callable[..., TokenizerLibrary]
Encoded = Callable[[Data], bytes]


def names(library: TokenizerLibrary, kind: str) -> list[str]:
    return [row["name"] for row in library.listing() if row["kind"] == kind]


def test_an_upload_is_kept_listed_used_and_deleted(make_library: Make, toy: Data, encoded: Encoded) -> None:
    library = make_library()
    row = library.add_upload("C:\\models\\my\x1b\n.json", encoded(toy), b'{"chat_template": "{{ x }}"}')
    assert row["name"] == f"upload:{row['fingerprint'][:16]}"
    assert (row["label"], row["vocab_size"], row["kind"]) == ("my.json, 267", 267, "upload")
    assert row in library.listing()
    assert row in make_library().listing()
    assert library.get(row["name"]).encode("hello") == [259]
    assert library.get(row["name"]) is library.get(row["name"], {})
    assert library.vocabulary(row["name"]).templates == {"chat_template": "{{ x }}"}
    assert len(library._pool.pids()) == 1
    library.remove(row["fingerprint"])
    assert (names(library, "upload"), library._pool.pids()) == ([], {})
    with pytest.raises(UsageError, match=r"no tokenizer 'upload:.*' here; upload its tokenizer.json again"):
        library.get(row["name"])
    with pytest.raises(UsageError, match=r"no tokenizer '.*' to delete; it may be deleted already"):
        library.remove(row["fingerprint"])


def test_the_same_tokenizer_is_kept_once(make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path) -> None:
    library = make_library()
    first = library.add_upload("a.json", encoded(toy))
    toy["post_processor"], toy["padding"] = None, {"strategy": {"Fixed": 3}}
    again = library.add_upload(" ", encoded(toy))
    assert again["fingerprint"] == first["fingerprint"]
    assert [row["label"] for row in library.listing() if row["kind"] == "upload"] == ["a.json, 267"]
    kept = sorted(path.name for path in (tmp_path / "data/tokenizers/uploads").iterdir())
    assert kept == [f"{first['fingerprint']}.json", f"{first['fingerprint']}.note.json"]


@pytest.mark.replays
def test_there_is_no_place_for_endless_uploads(
    make_library: Make, toy: Data, encoded: Encoded, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = make_library()
    library.add_upload("a.json", encoded(toy))
    toy["model"]["merges"].pop()
    monkeypatch.setattr(prepared, "MOST_BYTES", 6_000)
    with pytest.raises(UsageError, match="more than 6,000 bytes; delete one of them first"):
        library.add_upload("b.json", encoded(toy))
    with pytest.raises(UsageError, match="1 tokenizers are kept already; delete one of them first"):
        make_library(most_uploads=1).add_upload("b.json", encoded(toy))
    assert len(names(library, "upload")) == 1


def test_uploads_can_be_switched_off_and_have_a_size(make_library: Make, toy: Data, encoded: Encoded) -> None:
    with pytest.raises(UsageError, match=r"switched off here \(TOOLCALL_INSPECTOR_TOKENIZER_UPLOADS\)"):
        make_library(tokenizer_uploads=False).add_upload("a.json", encoded(toy))
    with pytest.raises(
        UsageError, match=r"big.json has 41,000,000 bytes; .*_UPLOAD_BYTES allows 40,000,000: give the tok"
    ):
        make_library().add_upload("big.json", b" " * 41_000_000)


HOSTILE: dict[str, tuple[Callable[[Data], object], str]] = {
    "truncated": (lambda _: b'{"model": {"vocab"', "not whole JSON"),
    "web page": (lambda _: b"<html>", "a web page"),
    "charsmap": (
        lambda d: d.update(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "/normalizer/precompiled_charsmap: the table of the normal form is broken",
    ),
    "broken regex": (
        lambda d: d.update(pre_tokenizer={"type": "Split", "pattern": {"Regex": "(("}, "behavior": "Isolated"}),
        "the tokenizers library refuses",
    ),
    "merge of nothing": (lambda d: d["model"]["merges"].append("no such"), "the tokenizers library refuses"),
    "200,000 added tokens": (
        lambda d: d.update(added_tokens=[{"id": 300 + i, "content": f"<{i}>"} for i in range(200_000)]),
        "200,000 added tokens; at most 10,000",
    ),
    "deep": (lambda _: b'{"a":' * 100_000, "nested deeper than 40 levels"),
    "lists upon lists": (lambda _: b"[" + b"[]," * 12_000_000 + b"[]]", "the JSON has 12,000,002 lists"),
}


@pytest.mark.replays
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_upload_is_one_sentence_and_nothing_is_kept(
    name: str, make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path
) -> None:
    change, message = HOSTILE[name]
    changed = change(toy)
    library = make_library(tokenizer_memory_bytes=800_000_000)
    with pytest.raises(UsageError, match=f"^evil.json: .*{message}") as caught:
        library.add_upload("evil.json", changed if isinstance(changed, bytes) else encoded(toy))
    assert len(str(caught.value).splitlines()) == 1
    assert list((tmp_path / "data/tokenizers/uploads").iterdir()) == []
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < 2_000_000_000


@pytest.mark.replays
def test_a_pattern_that_explodes_ends_its_child_alone(make_library: Make, toy: Data, encoded: Encoded) -> None:
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    toy["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, toy["pre_tokenizer"]]}
    library = make_library(tokenizer_seconds=1)
    adapter = library.get(library.add_upload("evil.json", encoded(toy))["name"])
    with pytest.raises(UsageError, match=r"evil.json, 267 makes the tokenizers library crash: .*; take another file"):
        adapter.encode("a" * 60 + "!")
    with pytest.raises(UsageError, match=r"evil.json, 267 took longer than 1 seconds"):
        adapter.encode(("a" * 18 + "! ") * 20_000)
    assert adapter.encode("hello") == [259]


def test_files_in_folders_are_found_by_name(
    make_library: Make, toy: Data, spm: Data, encoded: Encoded, tmp_path: Path
) -> None:
    for folder in ("one/tiny", "one/empty", "two/tiny", "solo"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "one/tiny/tokenizer.json").write_bytes(encoded(toy))
    (tmp_path / "one/tiny/tokenizer_config.json").write_text('{"chat_template": "x"}')
    (tmp_path / "one/loose.json").write_bytes(encoded(spm))
    (tmp_path / "one/tokenizer_config.json").write_text("{}")
    (tmp_path / "two/tiny/tokenizer.model").write_bytes(b"\n\x0e\n\x05<unk>")
    (tmp_path / "solo/gpt.tiktoken").write_bytes(base64.b64encode(b"a") + b" 0\n")
    given = [tmp_path / name for name in ("one", "two", "solo", "missing")]
    library = make_library(tokenizer_folders=",".join(map(str, given)))
    assert names(library, "folder") == ["folder:tiny", "folder:loose", "folder:tiny-2", "folder:solo"]
    before = {row["name"]: row for row in library.listing()}
    assert (before["folder:tiny"]["label"], before["folder:tiny"]["vocab_size"]) == ("tiny", 0)
    assert library.get("folder:tiny").encode("hello") == [259]
    after = {row["name"]: row for row in library.listing()}
    assert (after["folder:tiny"]["label"], after["folder:tiny"]["vocab_size"]) == ("tiny, 267", 267)
    assert library.vocabulary("folder:tiny").templates == {"chat_template": "x"}
    (tmp_path / "one/tiny/chat_template.jinja").write_text("{{ y }}")
    assert library.vocabulary("folder:tiny").templates == {"chat_template": "{{ y }}"}
    assert library.get("folder:loose").decoder == "byte_fallback"
    for name, message in {
        "folder:tiny-2": "^folder:tiny-2: this is no tokenizer file",
        "folder:solo": "^folder:solo: the file has 1 ranks",
        "folder:other": "no folder of TOOLCALL_INSPECTOR_TOKENIZER_FOLDERS has one of that name",
    }.items():
        with pytest.raises(UsageError, match=message):
            library.get(name)
    assert not [*tmp_path.rglob("*.new")]


def test_a_changed_file_in_a_folder_is_read_again(
    make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path
) -> None:
    file = tmp_path / "one" / "tokenizer.json"
    file.parent.mkdir()
    file.write_bytes(encoded(toy))
    library = make_library(tokenizer_folders=str(file.parent))
    first = library.get("folder:one")
    toy["model"]["merges"].pop()
    file.write_bytes(encoded(toy))
    os.utime(file, ns=(1, 1))
    assert library.get("folder:one").fingerprint != first.fingerprint
    file.write_bytes(b" " * 1_001)
    with pytest.raises(UsageError, match=r"tokenizer.json has more bytes than .*_UPLOAD_BYTES allows"):
        make_library(tokenizer_folders=str(file.parent), tokenizer_upload_bytes=1_000).get("folder:one")


def test_a_file_that_vanishes_is_one_sentence(make_library: Make, tmp_path: Path) -> None:
    library = make_library()
    with pytest.raises(UsageError, match=r"^x: gone.json cannot be read \(No such file or directory\)"):
        library._converted.get(Source("x", "X", "folder", tmp_path / "gone.json"))
    row = library._converted.info(Source("x", "X", "folder", tmp_path / "gone.json"))
    assert (row["name"], row["vocab_size"], row["fingerprint"]) == ("x", 0, "")


def test_only_the_newest_converted_files_are_kept(
    make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "KEPT", 1)
    (tmp_path / "many").mkdir()
    (tmp_path / "many/a.json").write_bytes(encoded(toy))
    (tmp_path / "many/b.json").write_bytes(encoded(toy).replace(b"<think>", b"<thunk>"))
    library = make_library(tokenizer_folders=str(tmp_path / "many"))
    assert library.get("folder:a").marker_state("<think>").ids == (265,)
    assert library.get("folder:b").marker_state("<thunk>").ids == (265,)
    assert len(list((tmp_path / "data/tokenizers/converted").iterdir())) == 2


def test_a_folder_may_hold_very_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "MOST", 3)
    for number in range(5):
        (tmp_path / f"{number}.json").write_text("{}")
    assert [source.name for source in sources_in([tmp_path])] == ["folder:0", "folder:1", "folder:2"]


@pytest.mark.replays
def test_what_came_from_the_hub_is_kept_by_its_repository(make_library: Make, toy: Data, encoded: Encoded) -> None:
    library = make_library()
    rows = [library.add_hub(f"owner/{name}", encoded(toy)) for name in ("small", "large")]
    assert [row["name"] for row in rows] == ["hub:owner/small", "hub:owner/large"]
    assert rows[0]["fingerprint"] == rows[1]["fingerprint"]
    assert library.get("hub:owner/small").encode("hello") == [259]
    library.remove("hub:owner/small")
    assert names(library, "hub") == ["hub:owner/large"]
    with pytest.raises(UsageError, match=r"no tokenizer 'hub:owner/small' here; fetch it"):
        library.get("hub:owner/small")


def test_a_missing_package_says_what_to_install(make_library: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda _name: None)
    library = make_library()
    assert names(library, "package") == []
    for name, extra in {"mistral-v11": "mistral", "deepseek": "deepseek"}.items():
        with pytest.raises(UsageError, match=rf"needs another package: pip install 'toolcall-inspector\[{extra}\]'"):
            library.get(name)


def test_an_unknown_name_lists_those_that_can_be_chosen(make_library: Make) -> None:
    with pytest.raises(UsageError, match=r"no tokenizer 'gpt'; choose one of: embedded, characters, .*deepseek$"):
        make_library().get("gpt")


def test_packages_are_listed_without_being_read(make_library: Make, tmp_path: Path) -> None:
    rows = {row["name"]: row for row in make_library().listing() if row["kind"] == "package"}
    assert rows.keys() == PACKAGES.keys()
    assert {row["vocab_size"] for row in rows.values()} == {131_072, 129_280}
    assert not (tmp_path / "data").exists()


def test_adapters_do_not_pile_up(
    make_library: Make, toy: Data, encoded: Encoded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[TokenizerLibrary.__module__], "_CACHED", 2)
    library = make_library()
    name = library.add_upload("a.json", encoded(toy))["name"]
    for number in range(5):
        library.get(name, {f"<{number}>": False})
    assert len(library._adapters) <= 2


def test_damaged_notes_are_nothing(make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path) -> None:
    library = make_library()
    row = library.add_upload("a.json", encoded(toy))
    note = tmp_path / f"data/tokenizers/uploads/{row['fingerprint']}.note.json"
    note.write_text("[]")
    assert (read_note(note), names(library, "upload")) == (None, [])
    note.write_text("{")
    assert (read_note(note), names(library, "upload")) == (None, [])


def test_lost_files_are_one_sentence(
    make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.json").write_bytes(encoded(toy))
    monkeypatch.setattr(prepared, "read_note", lambda _path: None)
    library = make_library()
    with pytest.raises(UsageError, match=r"x: the data folder lost the converted tokenizer; try again"):
        library._converted.get(Source("x", "X", "folder", tmp_path / "toy.json"))
    with pytest.raises(UsageError, match=r"toy.json: the data folder lost the tokenizer; give it again"):
        library.add_upload("toy.json", encoded(toy))


def test_names_mean_the_library_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[TokenizerLibrary.__module__], "_library", None)
    assert library() is library()
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps({}))
    used = use(get_settings(data_dir=tmp_path, tokenizer_folders=str(folder)))
    assert "folder:one" in [row["name"] for row in list_tokenizers()]
    assert use(get_settings(data_dir=tmp_path, tokenizer_folders=str(folder))) is used
    assert use(get_settings(data_dir=tmp_path)) is not used


def test_a_data_folder_that_cannot_be_written_is_one_sentence(
    make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    (tmp_path / "toy.json").write_bytes(encoded(toy))
    library = make_library()
    with pytest.raises(UsageError, match=r"the data folder cannot be written .*set TOOLCALL_INSPECTOR_DATA_DIR"):
        library.add_upload("toy.json", encoded(toy))
    with pytest.raises(UsageError, match=r"the data folder cannot be written .*set TOOLCALL_INSPECTOR_DATA_DIR"):
        library._converted.get(Source("x", "X", "folder", tmp_path / "toy.json"))


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_what_is_kept_is_its_owners_alone(make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path) -> None:
    make_library().add_upload("toy.json", encoded(toy))
    for folder in ("data", "data/tokenizers", "data/tokenizers/uploads"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700
