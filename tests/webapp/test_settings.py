from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from parsers.vocabulary.types import UsageError
from webapp.settings import ENV_PREFIX, STRICT_VARIABLE, Settings, get_settings, setting_rows


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.upper().startswith((ENV_PREFIX, STRICT_VARIABLE)):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the folders of Linux")
@pytest.mark.parametrize(
    ("xdg", "folder"),
    [
        (None, "~/.local/share/toolcall-inspector"),
        ("", "~/.local/share/toolcall-inspector"),
        ("/data", "/data/toolcall-inspector"),
        ("relative/ignored", "~/.local/share/toolcall-inspector"),
    ],
)
def test_the_data_folder_follows_the_xdg_specification(
    xdg: str | None, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if xdg is not None:
        monkeypatch.setenv("XDG_DATA_HOME", xdg)
    assert get_settings().data_dir == Path(folder).expanduser()


def test_the_defaults_serve_one_user_on_this_machine() -> None:
    settings = get_settings()
    assert (settings.host, settings.port, settings.public_url) == ("127.0.0.1", 8765, None)
    assert settings.trusted_hosts == ("localhost", "127.0.0.1", "[::1]")
    assert (settings.max_text_bytes, settings.max_tokens, settings.max_request_bytes) == (1_000_000, 250_000, 8_000_000)
    assert settings.strict is False


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the folder of Linux")
def test_the_database_is_a_file_in_the_data_folder(tmp_path: Path) -> None:
    settings = get_settings()
    assert settings.data_dir == tmp_path / ".local/share/toolcall-inspector"
    assert settings.database_url == f"sqlite:///{settings.data_dir}/toolcall-inspector.sqlite3"


@pytest.mark.parametrize("name", ["a b", "50%", "what?", "naïve#1"])
def test_any_folder_name_survives_in_the_database_url(name: str, tmp_path: Path) -> None:
    from sqlalchemy.engine import make_url

    settings = get_settings(data_dir=tmp_path / name)
    assert make_url(settings.database_url).database == str(tmp_path / name / "toolcall-inspector.sqlite3")


def test_a_tilde_in_the_data_folder_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", "~/cases")
    assert get_settings().data_dir == tmp_path / "cases"


def test_reading_settings_creates_nothing(tmp_path: Path) -> None:
    get_settings()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_data_folder_is_its_owners_alone(tmp_path: Path) -> None:
    settings = get_settings(data_dir=tmp_path / "a" / "b")
    folder = settings.make_data_dir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o750)
    assert stat.S_IMODE(settings.make_data_dir().stat().st_mode) == 0o750


def test_a_data_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match=r"cannot create the data folder .*DATA_DIR"):
        get_settings(data_dir=tmp_path / "file" / "below").make_data_dir()


def test_the_environment_and_the_command_line_are_read_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_PORT", "9000")
    monkeypatch.setenv("TOOLCALL_INSPECTOR_THREADS", "")
    assert get_settings(port=None).port == 9000
    assert get_settings(port=9001).port == 9001
    assert get_settings().threads == 8


TRUSTED = [
    ({"host": "0.0.0.0"}, ("localhost", "127.0.0.1", "[::1]")),
    ({"host": "::"}, ("localhost", "127.0.0.1", "[::1]")),
    ({"host": "Box.Local"}, ("localhost", "127.0.0.1", "[::1]", "box.local")),
    ({"host": "fe80::1"}, ("localhost", "127.0.0.1", "[::1]", "[fe80::1]")),
    ({"public_url": "https://Team.Example:8443/x/"}, ("localhost", "127.0.0.1", "[::1]", "team.example")),
    ({"trusted_hosts": "A.example, .b.example,,::1"}, ("a.example", ".b.example", "[::1]")),
    ({"trusted_hosts": ("c.example",)}, ("c.example",)),
]


@pytest.mark.parametrize(("given", "trusted"), TRUSTED)
def test_trusted_hosts_follow_host_and_public_url(given: dict[str, object], trusted: tuple[str, ...]) -> None:
    assert get_settings(**given).trusted_hosts == trusted


WORDS = [("1", True), ("TRUE", True), ("yes", True), (" on ", True), ("0", False), ("false", False), ("maybe", False)]


@pytest.mark.parametrize(("word", "strict"), WORDS)
def test_the_vllm_variable_is_the_default_of_strict(word: str, strict: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_RS_STRICT_TOOL_CALL", word)
    assert get_settings().strict is strict
    monkeypatch.setenv("TOOLCALL_INSPECTOR_STRICT", "false" if strict else "true")
    assert get_settings().strict is not strict


MISTAKES = [
    ("PORT", "abc", "TOOLCALL_INSPECTOR_PORT is 'abc': .*valid integer"),
    ("PORT", "65536", "TOOLCALL_INSPECTOR_PORT is '65536': .*less than or equal to 65535"),
    ("PORT", "tcp://10.0.0.1:8765", "enableServiceLinks: false"),
    ("PROT", "1", "TOOLCALL_INSPECTOR_PROT is not a setting; did you mean TOOLCALL_INSPECTOR_PORT"),
    ("COLOUR", "red", "TOOLCALL_INSPECTOR_COLOUR is not a setting; `toolcall-inspector settings`"),
    ("SERVICE_HOST", "10.0.0.1", "enableServiceLinks: false"),
    ("DATABASE_URL", "mysql://u:secret@h/d", r"'mysql://u:\*\*\*@h/d': must be an SQLAlchemy URL"),
    ("PUBLIC_URL", "inspector.example", "must look like https://"),
    ("PUBLIC_URL", "https://inspector.example/?x=1", "must look like https://"),
    ("TRUSTED_HOSTS", "https://a.example", "must be host names without scheme"),
    ("TRUSTED_HOSTS", ",", "must be host names"),
    ("MAX_REQUEST_BYTES", "10", "must not be smaller than max_text_bytes"),
    ("MAX_TEXT_BYTES", "0", "TOOLCALL_INSPECTOR_MAX_TEXT_BYTES is '0': .*greater than 0"),
]


@pytest.mark.parametrize(("name", "value", "message"), MISTAKES)
def test_a_mistake_names_the_variable_and_what_to_do(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"TOOLCALL_INSPECTOR_{name}", value)
    with pytest.raises(UsageError, match=message):
        get_settings()


def test_a_user_without_a_home_is_told_to_name_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(path: Path) -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with pytest.raises(UsageError, match="no home folder; set TOOLCALL_INSPECTOR_DATA_DIR"):
        get_settings()


def test_the_rows_list_every_setting_with_its_value() -> None:
    rows = {row.env: row for row in setting_rows(get_settings(strict=True, port=1))}
    assert list(rows) == [ENV_PREFIX + name.upper() for name in Settings.model_fields]
    assert all(row.description.endswith(".") for row in rows.values())
    port, public, strict = (rows[ENV_PREFIX + name] for name in ("PORT", "PUBLIC_URL", "STRICT"))
    assert (port.default, port.value) == ("8765", "1")
    assert (public.default, public.value) == ("not set", "not set")
    assert (strict.default, strict.value) == ("false, or VLLM_RS_STRICT_TOOL_CALL", "true")
    assert rows["TOOLCALL_INSPECTOR_TRUSTED_HOSTS"].value == "localhost,127.0.0.1,[::1]"


def test_the_documented_defaults_are_the_same_on_every_machine(tmp_path: Path) -> None:
    assert not [row for row in setting_rows(get_settings()) if str(tmp_path) in row.default]


PASSWORDS = ["postgresql://u:secret@h/d", "postgresql://u:se@cret@h/d", "postgresql:///d?user=u&password=secret&x=1"]


@pytest.mark.parametrize("url", PASSWORDS)
def test_the_rows_never_show_a_password(url: str) -> None:
    values = [row.value for row in setting_rows(get_settings(database_url=url))]
    assert not [value for value in values if "cret" in value]
    assert [value for value in values if "***" in value]


def test_tokenizer_folders_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_TOKENIZER_FOLDERS", " ~/one ,, /two/three ")
    settings = get_settings()
    assert settings.tokenizer_folders == (tmp_path / "one", Path("/two/three"))
    shown = {row.env: (row.default, row.value) for row in setting_rows(settings)}
    given = f"{tmp_path / 'one'},/two/three"
    assert shown["TOOLCALL_INSPECTOR_TOKENIZER_FOLDERS"] == ("not set", given)
    assert get_settings(tokenizer_folders=(tmp_path,)).tokenizer_folders == (tmp_path,)


def test_tokenizers_have_their_limits() -> None:
    settings = get_settings()
    assert (settings.tokenizer_uploads, settings.tokenizer_upload_bytes) == (True, 40_000_000)
    assert (settings.tokenizer_seconds, settings.tokenizer_memory_bytes) == (10, 2_000_000_000)
    assert settings.tokenizer_cache_bytes == 400_000_000


def test_origins_that_may_frame_a_case_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().embed_origins == ()
    monkeypatch.setenv(f"{ENV_PREFIX}EMBED_ORIGINS", "https://Tracker.example/, http://localhost:8080")
    assert get_settings().embed_origins == ("https://tracker.example", "http://localhost:8080")


@pytest.mark.parametrize(
    "origin", ["tracker.example", "https://a.example/path", "*", "https://a.example; script-src *"]
)
def test_what_is_no_origin_is_refused(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{ENV_PREFIX}EMBED_ORIGINS", origin)
    with pytest.raises(UsageError, match=r"EMBED_ORIGINS is .* must be origins such as"):
        get_settings()
