"""Settings: one frozen value read from the environment when a program starts.

Every setting is the variable `TOOLCALL_INSPECTOR_<FIELD>`; the command line may override single fields. The one
foreign variable is VLLM_RS_STRICT_TOOL_CALL, which vllm.rs reads for the same purpose (its README, "Environment
Variables"): it is the default of `strict`.

Invariants: reading settings touches no file; an unknown variable under our prefix is an error, not a silent no-op;
a message never shows a password.
"""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

from platformdirs import user_data_path
from pydantic import Field, PositiveInt, ValidationError, ValidationInfo, field_validator
from pydantic.config import JsonDict
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from parsers.vocabulary.types import UsageError

ENV_PREFIX = "TOOLCALL_INSPECTOR_"
ANSWER_TIMES = 5  # as large as `answer_bytes` a file to download may be, and JSON Lines
STRICT_VARIABLE = "VLLM_RS_STRICT_TOOL_CALL"
DATABASES = ("sqlite", "postgresql")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
PATIENCE = 3  # times as long by the clock as it may work, for a request on a busy machine
WILDCARDS = ("0.0.0.0", "[::]")  # noqa: S104 - compared with, never bound to

_HOST_NAME = re.compile(r"\.?[\w.-]+|\[[0-9a-f:.]+\]")
_ORIGIN = re.compile(r"https?://(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_OF_CLIENTS = frozenset({
    *("accept", "accept-encoding", "accept-language", "authorization", "connection", "content-length"),
    *("content-type", "cookie", "host", "origin", "referer", "sec-fetch-site", "user-agent"),
})  # fmt: skip
_SERVICE_LINKS = "a Kubernetes service of this name sets such variables; give the pod enableServiceLinks: false"


def _strict_default() -> bool:
    """Return what VLLM_RS_STRICT_TOOL_CALL says. As in vllm.rs, anything but a word for yes means no."""
    return os.environ.get(STRICT_VARIABLE, "").strip().lower() in {"1", "true", "yes", "on"}


def _processes() -> int:
    """Return how many cores this process may use, within bounds."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(cores, 2), 8)


def _sqlite_url(data: dict[str, Any]) -> str:
    path = data["data_dir"] / "toolcall-inspector.sqlite3"
    return "sqlite:///" + quote(path.as_posix(), safe="/:")


def _trusted(data: dict[str, Any]) -> tuple[str, ...]:
    hosts = [*LOOPBACK, _bracketed(data["host"])]
    if data["public_url"]:
        hosts.append(_bracketed(urlsplit(data["public_url"]).hostname or ""))
    return tuple(host for host in dict.fromkeys(hosts) if host not in WILDCARDS)


def _for_strangers(most: int) -> Any:
    """The default of a quota: so much where others reach the server, 0 for no limit where this machine alone does."""

    def chosen(data: dict[str, Any]) -> int:
        return 0 if data["public_url"] is None and _bracketed(data["host"]) in LOOPBACK else most

    return chosen


def _quota(most: int, description: str) -> Any:
    """A quota: 0 is no limit."""
    shown: JsonDict = {"default": f"{most}; 0 where host is a loopback address and public_url is not set"}
    return Field(default_factory=_for_strangers(most), ge=0, description=description, json_schema_extra=shown)


def _bracketed(host: str) -> str:
    """A host as the Host header spells it: IPv6 addresses stand in brackets."""
    host = host.strip().lower()
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


class Settings(BaseSettings):
    """Everything a running inspector can be told. `default` in a field's extra is what documentation shows."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_ignore_empty=True, extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", min_length=1, description="Address the server listens on.")
    port: int = Field(8765, ge=0, le=65535, description="Port the server listens on; 0 takes any free one.")
    data_dir: Path = Field(
        default_factory=lambda: user_data_path("toolcall-inspector", appauthor=False),
        validate_default=True,
        description="Folder for everything that is kept; created on first use, readable by its owner alone.",
        json_schema_extra={"default": "toolcall-inspector in the user's data folder"},
    )
    database_url: str = Field(
        default_factory=_sqlite_url,
        description="SQLAlchemy URL of the case database: sqlite or postgresql.",
        json_schema_extra={"default": "toolcall-inspector.sqlite3 in the data folder"},
    )
    formats: Path | None = Field(
        None, description="Folder whose *.json files are formats to choose from, read when the program starts."
    )
    engines: Path | None = Field(
        None,
        description="File of the engines that may be run, which `engines add` writes.",
        json_schema_extra={"default": "engines.toml in the data folder"},
    )
    sweeps: Path | None = Field(
        None,
        description="Folder of sweeps, whose reports /sweeps shows to everybody who reaches the server; none: no page.",
    )
    public_url: str | None = Field(
        None,
        description="The address others reach this server by, with its path if it has one; links begin with it, and its"
        " host is trusted.",
    )
    trusted_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default_factory=_trusted,
        description="Host names requests may use, separated by commas; a leading dot admits subdomains.",
        json_schema_extra={"default": "loopback names, host, and the host of public_url"},
    )
    embed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Origins whose pages may show /c/ID/embed in a frame, separated by commas, such as"
        " https://tracker.example.",
    )
    writes: Literal["all", "no_sharing", "none"] = Field(
        "all",
        description="What is stored: all; no_sharing: no cases and collections; none: nothing, and nothing is deleted.",
    )
    write_secret: str | None = Field(
        None, min_length=16, description="A secret without which nothing is stored or deleted; see docs/deploy.md."
    )
    write_header: str | None = Field(
        None, description="Header that a proxy sets for those who may store and delete; see docs/deploy.md."
    )
    proxies: int = Field(
        0,
        ge=0,
        le=10,
        description="How many proxies stand before the server, each of which adds to X-Forwarded-For whom it was asked"
        " by; see docs/deploy.md.",
    )
    client_cases: int = _quota(300, "Cases and collections a client may store in a day, UTC; 0: no limit.")
    client_bytes: int = _quota(100_000_000, "Bytes of cases a client may store in a day; 0: no limit.")
    client_uploads: int = _quota(20, "Tokenizers a client may upload or fetch in a day; 0: no limit.")
    most_cases: int = _quota(1_000_000, "Cases the server keeps in all; 0: no limit.")
    most_bytes: int = _quota(20_000_000_000, "Bytes of cases the server keeps in all; 0: no limit.")
    most_uploads: PositiveInt = Field(50, description="Uploaded tokenizers the server keeps, and of the hub as many.")
    max_text_bytes: PositiveInt = Field(1_000_000, description="Largest output text of a case, in bytes of UTF-8.")
    max_tokens: PositiveInt = Field(250_000, description="Largest number of tokens of a case.")
    max_request_bytes: PositiveInt = Field(
        8_000_000, description="Largest request body in bytes; a form encodes a text byte in up to three."
    )
    answer_bytes: PositiveInt = Field(
        20_000_000, description="Largest JSON object of a replay the API answers with, in bytes before gzip."
    )
    trace_cache_bytes: int = Field(
        512_000_000, ge=0, description="Memory for computed traces, in bytes, of all processes; 0 keeps none."
    )
    run_seconds: PositiveInt = Field(
        3_600,
        description="Time for which a posted run keeps its address after somebody asked for it last. A long one whose"
        " page was left keeps it for two minutes.",
    )
    replay_processes: int = Field(
        default_factory=_processes,
        ge=0,
        description="Processes that replay and draw, one request each; one more for small ones, and as many again that"
        " stand in for those whose runs somebody reads; 0: none.",
        json_schema_extra={"default": "one for each core, 2 to 8"},
    )
    replay_seconds: PositiveInt = Field(
        20, description="Processor time a request may take, and a third of what it may take by the clock."
    )
    replay_memory_bytes: int = Field(
        2_000_000_000, ge=200_000_000, description="Memory such a process may use, where the system can tell."
    )
    replay_kept_bytes: int = Field(
        800_000_000, ge=0, description="Memory such processes may keep together between requests, in bytes."
    )
    threads: PositiveInt = Field(8, description="Requests served at the same time, beside those such processes have.")
    connections: PositiveInt = Field(
        500, description="Connections held at the same time; more wait until silent ones are closed."
    )
    connection_seconds: PositiveInt = Field(60, description="Time after which a silent connection is closed.")
    stop_seconds: PositiveInt = Field(
        20, description="Time answers may take to end once `serve` is told to stop; then they are given up."
    )
    metrics: bool = Field(
        False, description="Whether /metrics tells Prometheus what this server does; keep strangers from it by a proxy."
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="How `serve` and workers log: text, or json, a line for each request besides."
    )
    find_seconds: PositiveInt = Field(
        20,
        description="Processor time of a search, and a third of its time by the clock; then it shows what it has.",
    )
    find_replay_seconds: PositiveInt = Field(
        10, description="Processor time that one replay of a search may take; a parser that takes more is found slow."
    )
    find_total_seconds: PositiveInt = Field(
        600, description="Processor time that all replays of a search may take, on the command line as well."
    )
    find_processes: PositiveInt = Field(2, description="Searches at the same time, each in a process of its own.")
    find_memory_bytes: int = Field(
        2_000_000_000, ge=200_000_000, description="Memory the process of a search may use, where the system can tell."
    )
    find_cache_bytes: int = Field(64_000_000, ge=1_000_000, description="Memory for results of searches, in bytes.")
    tokenizer_folders: Annotated[tuple[Path, ...], NoDecode] = Field(
        (), description="Folders with tokenizers to choose from, separated by commas; see docs/tokenizers.md."
    )
    tokenizer_uploads: bool = Field(True, description="Whether tokenizers may be uploaded; they are kept in data_dir.")
    tokenizer_upload_bytes: PositiveInt = Field(40_000_000, description="Largest tokenizer file in bytes.")
    tokenizer_seconds: PositiveInt = Field(10, description="Time a tokenizer may take to load, or to cut one text.")
    tokenizer_memory_bytes: int = Field(
        2_000_000_000, ge=200_000_000, description="Memory the process of a tokenizer may use, where the system can."
    )
    tokenizer_cache_bytes: int = Field(
        400_000_000, ge=0, description="Memory the processes of loaded tokenizers may keep together, in bytes."
    )
    hub: bool = Field(False, description="Whether tokenizers may be fetched from the Hugging Face hub, by name.")
    hub_seconds: PositiveInt = Field(60, description="Time such a download may take.")
    strict: bool = Field(
        default_factory=_strict_default,
        description=f"Drop invalid calls where a case does not say; {STRICT_VARIABLE} (1, true, yes, on) also sets it.",
        json_schema_extra={"default": f"false, or {STRICT_VARIABLE}"},
    )

    @field_validator("data_dir", "formats", "sweeps")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser().absolute()

    @field_validator("tokenizer_folders", mode="before")
    @classmethod
    def _folders(cls, value: Any) -> Any:
        parts = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        return tuple(Path(part).expanduser().absolute() for part in parts)

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        if value.partition(":")[0].partition("+")[0] not in DATABASES:
            raise ValueError("must be an SQLAlchemy URL that starts with sqlite: or postgresql:")
        return value

    @field_validator("write_header")
    @classmethod
    def _header_of_a_proxy(cls, value: str | None) -> str | None:
        if value is not None and (not _HEADER.fullmatch(value) or value.lower() in _OF_CLIENTS):
            raise ValueError("must be the name of a header that no client sends by itself, like X-Remote-User")
        return value

    @field_validator("public_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "")
        if value and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment):
            raise ValueError("must look like https://inspector.example")
        return value.rstrip("/") if value else None

    @field_validator("trusted_hosts", mode="before")
    @classmethod
    def _comma_separated(cls, value: Any) -> Any:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(_bracketed(part) for part in parts if part.strip())

    @field_validator("trusted_hosts")
    @classmethod
    def _host_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [host for host in value if not _HOST_NAME.fullmatch(host)]
        if wrong or not value:
            raise ValueError("must be host names without scheme, port or path, separated by commas")
        return value

    @field_validator("embed_origins", mode="before")
    @classmethod
    def _origins(cls, value: Any) -> Any:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple([part.strip().rstrip("/").lower() for part in parts if part.strip()])

    @field_validator("embed_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not _ORIGIN.fullmatch(origin) for origin in value):
            raise ValueError("must be origins such as https://tracker.example, without a path, separated by commas")
        return value

    @field_validator("max_request_bytes")
    @classmethod
    def _holds_a_text(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("max_text_bytes", 0):
            raise ValueError("must not be smaller than max_text_bytes")
        return value

    @property
    def most_answer_bytes(self) -> int:
        """The longest answer of any kind, before gzip."""
        return ANSWER_TIMES * self.answer_bytes

    def make_data_dir(self) -> Path:
        """Create the data folder (mode 0700) unless it is there. An existing folder keeps its mode."""
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot create the data folder {self.data_dir} ({error.strerror}); set {ENV_PREFIX}DATA_DIR to a"
                " folder that can be written"
            ) from error
        return self.data_dir


def get_settings(**overrides: Any) -> Settings:
    """The settings of this process: `overrides` that are not None, then the environment, then defaults.

    Raises UsageError naming the variable, its value and what is wrong with it.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    _refuse_unknown()
    try:
        return Settings(**given)
    except ValidationError as error:
        raise UsageError(_explanation(error)) from error
    except RuntimeError as error:  # pathlib: neither HOME nor a passwd entry names a home
        raise UsageError(f"this user has no home folder; set {ENV_PREFIX}DATA_DIR") from error


def _refuse_unknown() -> None:
    known = {name.upper() for name in Settings.model_fields}
    ours = (name.upper().removeprefix(ENV_PREFIX) for name in os.environ if name.upper().startswith(ENV_PREFIX))
    unknown = sorted(name for name in ours if name not in known)
    if not unknown:
        return
    near = difflib.get_close_matches(unknown[0], known, n=1)
    hint = f"did you mean {ENV_PREFIX}{near[0]}?" if near else "`toolcall-inspector settings` lists the names"
    if any(name.startswith(("SERVICE_", "PORT_")) for name in unknown):
        hint = _SERVICE_LINKS
    raise UsageError(f"{ENV_PREFIX}{unknown[0]} is not a setting; {hint}")


def _explanation(error: ValidationError) -> str:
    first = error.errors()[0]
    name, given = str(first["loc"][0]), str(first["input"])
    shown = _public(name, given)
    hint = f" ({_SERVICE_LINKS})" if given.startswith("tcp://") else ""
    return f"{ENV_PREFIX}{name.upper()} is {shown!r}: {first['msg'].removeprefix('Value error, ')}{hint}"


def _public(name: str, value: object) -> str:
    """A value as it may be shown: no password, no secret."""
    if name == "write_secret" and value is not None:
        return "***"
    return _without_password(_shown(value)) if name == "database_url" else _shown(value)


def _without_password(url: str) -> str:
    return re.sub(r"([?&]password=)[^&]*", r"\1***", re.sub(r"(://[^:/@]*):.*@", r"\1:***@", url))


@dataclass(slots=True, frozen=True)
class _SettingRow:
    """One line of the settings table: the variable, its documented default, its value now, what it is for."""

    env: str
    default: str
    value: str
    description: str


def setting_rows(settings: Settings) -> list[_SettingRow]:
    """Every setting in the order of declaration. `default` is the same on every machine."""
    rows = []
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        default = extra["default"] if isinstance(extra, dict) else field.default
        rows.append(
            _SettingRow(
                env=ENV_PREFIX + name.upper(),
                default=_shown(default),
                value=_public(name, getattr(settings, name)),
                description=field.description or "",
            )
        )
    return rows


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "not set"
    return str(value).lower() if isinstance(value, bool) else str(value)
