"""What every response and every request is held to: headers, same-origin writes, known hosts, sizes, error bodies.

==================  ================================================================================================
threat              answer
==================  ================================================================================================
script injection    a Content-Security-Policy without inline code, eval or foreign sources; model output is data
CSRF                unsafe methods need the browser's own word that the request is same-origin; no tokens, no cookies;
                    but for /new, which shows what was posted and does nothing with it
clickjacking        no page may be framed, but for /c/ID/embed, which has nothing to press, by origins in the settings
DNS rebinding       hosts other than the trusted ones get 400 (Flask's TRUSTED_HOSTS)
large bodies        413 naming the limit and the size, the same for every encoding (`webapp.bodies`)
leaks in errors     fixed sentences; a 500 says nothing about the code, the log has the trace
==================  ================================================================================================

The CSRF rule is Filippo Valsorda's, as in net/http's CrossOriginProtection of Go 1.25.

Referrer-Policy is same-origin, not no-referrer: under no-referrer a browser posts a native form with `Origin: null`
(Fetch standard, "append a request Origin header"), and over plain HTTP on a name other than loopback it sends no
Sec-Fetch-Site either, so the same-origin check could not pass. Other sites see no referrer under both policies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from flask import Flask, Response, jsonify, make_response, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.datastructures import Headers
from werkzeug.exceptions import (
    BadRequest,
    Forbidden,
    HTTPException,
    InternalServerError,
    MethodNotAllowed,
    NotFound,
    RequestEntityTooLarge,
    SecurityError,
)

from webapp.bodies import WholeRequest, measure_chunked
from webapp.settings import ENV_PREFIX, Settings
from webapp.storage_trouble import StorageFull, StorageUnavailable

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "font-src": "'none'",
}


def policy_of(**other: str) -> str:
    """The Content-Security-Policy of a response, with `other` directives (an underscore for each hyphen)."""
    said = {**POLICY, **{name.replace("_", "-"): value for name, value in other.items()}}
    return "; ".join(f"{name} {value}" for name, value in said.items())


HEADERS = {
    "Content-Security-Policy": policy_of(),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
API_PREFIX = "/api/"
HEALTH, READY = "/healthz", "/readyz"
PROBES = frozenset((HEALTH, READY))  # for machines that ask again and again, with whatever query
SHOWS_ONLY = frozenset({"/new"})  # what is posted there is shown in the form, and neither run nor stored
REFUSAL = "inspector.refusal"  # in the environ of a request: the HTTPException that answers it

Limit = Literal["max_text_bytes", "max_tokens", "max_request_bytes", "tokenizer_upload_bytes"]
ErrorPage = Callable[[int, str, str], ResponseReturnValue]


class _CrossOrigin(Forbidden):
    """An unsafe request that a page of another origin made."""

    def __init__(self) -> None:
        super().__init__(
            "A page of another site made this request, so it is refused. Open the inspector itself and try again;"
            f" behind a proxy, set {ENV_PREFIX}PUBLIC_URL to the address in the browser."
        )


class TooLarge(RequestEntityTooLarge):
    """Input over one of the limits in the settings; says the size, the limit and the setting."""

    def __init__(self, what: str, size: int | None, limit: int, setting: Limit, unit: str = "") -> None:
        unit = unit or ("tokens" if setting == "max_tokens" else "bytes")
        has = "is too large" if size is None else f"has {size:,} {unit}"
        super().__init__(f"{what} {has}; the limit is {limit:,} {unit} ({ENV_PREFIX}{setting.upper()}).")


# What a kind of error says: its code, and its sentence where whoever raised it gave none.
_SAYS: dict[type, tuple[str, str]] = {
    _CrossOrigin: ("cross_origin", "Refused."),
    SecurityError: (
        "untrusted_host",
        f"This server is not known by that host name. If it is yours, add it to {ENV_PREFIX}TRUSTED_HOSTS.",
    ),
    BadRequest: ("bad_request", "The request cannot be read."),
    NotFound: ("not_found", "There is nothing at this address."),
    MethodNotAllowed: ("method_not_allowed", "This address does not take that kind of request."),
    StorageFull: ("storage_full", "There is no room left."),
    StorageUnavailable: ("storage_unavailable", "The database does not answer."),
    RequestEntityTooLarge: ("too_large", "The request is too large."),
    InternalServerError: ("internal_error", "The server failed on this request. Its log says why."),
}
_MUTE = (SecurityError, InternalServerError)  # their own descriptions repeat the client or the code


def init_app(app: Flask, settings: Settings, error_page: ErrorPage | None = None) -> None:
    """Put `app` under the module's rules. Call it before anything else registers a before_request function.

    `error_page(status, title, message)` renders errors outside /api, but for a refused host; by default `_text_page`.
    """
    page = error_page or _text_page
    app.request_class = _Request
    app.config["TRUSTED_HOSTS"] = [_Host(host) for host in settings.trusted_hosts]
    app.config["MAX_CONTENT_LENGTH"] = app.config["MAX_FORM_MEMORY_SIZE"] = settings.max_request_bytes
    public = urlsplit(settings.public_url or "")
    own = frozenset({f"{public.scheme}://{public.netloc}".lower()}) if settings.public_url else frozenset()

    @app.before_request
    def refuse_cross_origin() -> None:
        if request.path not in SHOWS_ONLY and is_cross_origin(request.method, request.headers, own):
            raise _CrossOrigin

    @app.before_request
    def refuse_beforehand() -> None:
        error = request.environ.get(REFUSAL)
        if error is not None and not isinstance(request.routing_exception, SecurityError):
            raise error

    @app.before_request
    def read_chunked() -> None:
        if not measure_chunked(request.environ, settings.max_request_bytes):
            raise TooLarge("The request", None, settings.max_request_bytes, "max_request_bytes")

    @app.after_request
    def add_headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    @app.errorhandler(HTTPException)
    def render_error(error: HTTPException) -> ResponseReturnValue:
        return error if error.code is None or error.response is not None else _error_response(error, page)


def is_cross_origin(method: str, headers: Headers, own_origins: frozenset[str] = frozenset()) -> bool:
    """Return whether a browser made this unsafe request for a page of another origin.

    `own_origins` are further addresses of this server, lower case. Without Sec-Fetch-Site and Origin the client is no
    browser (or one older than 2020 that asks same-origin) and passes.
    """
    if method in SAFE_METHODS:
        return False
    if site := headers.get("Sec-Fetch-Site"):
        return site not in {"same-origin", "none"}
    origin = headers.get("Origin", "").lower()
    if not origin or origin in own_origins:
        return False
    host = origin.partition("://")[2]  # empty for the opaque origin "null"
    return not host or host != headers.get("Host", "").lower()


def check_limit(settings: Settings, limit: Limit, size: int, what: str, unit: str = "") -> None:
    """Raise TooLarge when `size`, in bytes, tokens or what `unit` says, is over the setting `limit`. `what` starts the
    sentence, e.g. "The output text"."""
    most: int = getattr(settings, limit)
    if size > most:
        raise TooLarge(what, size, most, limit, unit)


def api_error(
    code: str, message: str, field: str | None = None, status: int = 422, *, known: Mapping[str, Any] | None = None
) -> Response:
    """An error as every /api path gives it: {"error": {"code", "message", "field"}}. `field` is a JSON pointer;
    `known`, beside `error`, what could be answered all the same."""
    body = {"error": {"code": code, "message": message, "field": field}} | ({"known": known} if known else {})
    response = jsonify(body)
    response.status_code = status
    return response


def _is_api() -> bool:
    """Return whether the request is for the API, whose errors are JSON."""
    return request.path in PROBES or request.path.startswith(API_PREFIX)


def _text_page(status: int, title: str, message: str) -> ResponseReturnValue:
    """The plainest error page: a heading and a sentence, escaped."""
    page = Markup(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        "<main>\n<h1>{title}</h1>\n<p>{message}</p>\n</main>\n</html>\n"
    )
    return str(page.format(title=title, message=message)), status


def _error_response(error: HTTPException, page: ErrorPage) -> Response:
    if isinstance(error, RequestEntityTooLarge) and "description" not in vars(error):
        error = _sized()
    if isinstance(error, SecurityError):
        page = _text_page  # no address can be built for a host that is refused, so no page of the application either
    code, message = _says(error)
    status = error.code or 500
    response = (
        api_error(code, message, status=status) if _is_api() else make_response(page(status, error.name, message))
    )
    for name, value in error.get_headers():  # Allow of a 405, Retry-After of a 429
        response.headers.setdefault(name, value)
    response.headers["Cache-Control"] = "no-store"
    return response


def _sized() -> RequestEntityTooLarge:
    """Return what Werkzeug's bare 413 leaves out: which limit, and by how much."""
    limit, size = request.max_content_length or 0, request.content_length
    if size is not None and size <= limit:  # both byte limits are the same, so the number of fields is left
        return RequestEntityTooLarge(f"The form has too many fields; the limit is {request.max_form_parts:,}.")
    return TooLarge("The request", size, limit, "max_request_bytes")


def _says(error: HTTPException) -> tuple[str, str]:
    """Code and sentence: ours, or the sentence a view gave to abort(). Never the client's own words."""
    fallback = (error.name.lower().replace(" ", "_").replace("'", ""), f"{error.name}.")
    code, message = next((_SAYS[kind] for kind in type(error).__mro__ if kind in _SAYS), fallback)
    if not isinstance(error, _MUTE):
        message = vars(error).get("description") or message
    return code, message


class _Request(WholeRequest):
    """A request whose host is in lower case, as the trusted ones are: Werkzeug compares names of hosts with case."""

    def __init__(self, environ: WSGIEnvironment, *args: Any, **more: Any) -> None:
        if "HTTP_HOST" in environ:
            environ["HTTP_HOST"] = environ["HTTP_HOST"].lower()
        super().__init__(environ, *args, **more)


class _Host(str):
    """A name for TRUSTED_HOSTS. Werkzeug 3.1 compares what stands before the first colon; in a name that is already
    without its port a colon belongs to an IPv6 address, so there is nothing to cut."""

    __slots__ = ()

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        return str(self), "", ""
