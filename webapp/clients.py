"""Whose request it is, in words that never leave this process: what is kept of them is a digest with the salt of a day.

====================  ================================================================================================
a request             is counted for
====================  ================================================================================================
with the secret       whoever has that secret
signed in by a proxy  the name in the header that `write_header` names
any other             the network it comes from: the first 24 bits of an IPv4 address, the first 56 of an IPv6 address,
                      which is about what one household or one office has
====================  ================================================================================================

An address is what the connection comes from. Behind proxies it is what the outermost of them was reached from: each
adds to X-Forwarded-For whom it was asked by, so with `proxies` of them it is that many entries from the end. What
stands before those was written by the client and is not read.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from webapp.settings import Settings
from webapp.write_access import is_secret, secret_of

IPV4_BITS, IPV6_BITS = 24, 56
UNKNOWN = "unknown"  # an address that is none, as behind a socket of the file system: all of them are one client


def address_of(environ: Mapping[str, Any], proxies: int) -> str:
    """The address that a request comes from, as it is written there."""
    forwarded = str(environ.get("HTTP_X_FORWARDED_FOR", "")).rsplit(",", proxies) if proxies else []
    known = [*[one.strip() for one in forwarded if one.strip()], str(environ.get("REMOTE_ADDR", ""))]
    return known[max(len(known) - 1 - proxies, 0)]


def network_of(address: str) -> str:
    """The network of an address; UNKNOWN for what is no address."""
    host = address.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return UNKNOWN
    found = getattr(found, "ipv4_mapped", None) or found
    bits = IPV4_BITS if found.version == 4 else IPV6_BITS
    return str(ipaddress.ip_network((found, bits), strict=False))


def words_of(environ: Mapping[str, Any], settings: Settings) -> str:
    """Who asks, as words that tell clients apart."""
    network = f"network {network_of(address_of(environ, settings.proxies))}"
    return _with_secret(environ, settings) or _signed_in(environ, settings) or network


def owner_of(environ: Mapping[str, Any], settings: Settings) -> str:
    """Who is known to ask, as words that tell them apart: somebody whom the proxy signed in is themselves whatever
    secret comes along. Empty where nobody is known: a network is many, and whoever asks again may be in another one."""
    return _signed_in(environ, settings) or _with_secret(environ, settings)


def _with_secret(environ: Mapping[str, Any], settings: Settings) -> str:
    secret = secret_of(str(environ.get("HTTP_AUTHORIZATION", "")))
    return f"secret {secret}" if is_secret(settings, secret) else ""


def _signed_in(environ: Mapping[str, Any], settings: Settings) -> str:
    if settings.write_header is None:
        return ""
    name = str(environ.get(f"HTTP_{settings.write_header.upper().replace('-', '_')}", "")).strip()
    return f"name {name}" if name else ""
