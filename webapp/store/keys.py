"""Delete keys: told once to whoever made a thing, and kept as digests alone."""

from __future__ import annotations

import hashlib
import hmac
import secrets

KEY_BYTES = 16


def new_key() -> str:
    """A key that nobody can guess."""
    return secrets.token_urlsafe(KEY_BYTES)


def digest_of(key: str) -> str:
    """What is kept of a key: its SHA-256, hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def opens(key: str, kept: str | None) -> bool:
    """Return whether this is the key of what is kept, where there is anything; in constant time."""
    return kept is not None and hmac.compare_digest(kept, digest_of(key))
