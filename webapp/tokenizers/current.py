"""The library of this process: that of the application's settings, or else that of the environment."""

from __future__ import annotations

from threading import Lock

from webapp.settings import Settings, get_settings
from webapp.tokenizers.library import TokenizerLibrary

_lock = Lock()
_library: TokenizerLibrary | None = None


def use(settings: Settings) -> TokenizerLibrary:
    """Let names mean the tokenizers of these settings from now on."""
    global _library
    with _lock:
        if _library is None or _library.settings != settings:
            if _library is not None:
                _library.close()
            _library = TokenizerLibrary(settings)
        return _library


def library() -> TokenizerLibrary:
    """The library in use."""
    return _library or use(get_settings())
