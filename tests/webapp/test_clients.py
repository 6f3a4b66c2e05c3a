"""A client is a secret, a name that a proxy gave, or a network; what a client writes itself is not believed."""

from __future__ import annotations

from typing import Any

import pytest

from webapp.clients import UNKNOWN, address_of, network_of, words_of
from webapp.settings import Settings

SECRET = "of sixteen or more characters"

# X-Forwarded-For, whom the connection comes from, how many proxies, the address
ADDRESSES = [
    (None, "192.0.2.7", 0, "192.0.2.7"),
    ("203.0.113.9", "192.0.2.7", 0, "192.0.2.7"),
    ("203.0.113.9", "127.0.0.1", 1, "203.0.113.9"),
    ("10.0.0.1, 203.0.113.9", "127.0.0.1", 1, "203.0.113.9"),
    ("1.1.1.1,10.0.0.1, 203.0.113.9", "127.0.0.1", 2, "10.0.0.1"),
    ("203.0.113.9", "127.0.0.1", 3, "203.0.113.9"),
    (None, "127.0.0.1", 1, "127.0.0.1"),
    (" , ", "127.0.0.1", 1, "127.0.0.1"),
    ("203.0.113.9", "", 1, "203.0.113.9"),
    (None, None, 0, ""),
]
NETWORKS = [
    ("192.0.2.7", "192.0.2.0/24"),
    ("192.0.2.250:4711", "192.0.2.0/24"),
    ("::ffff:192.0.2.7", "192.0.2.0/24"),
    ("2001:db8:1:2ff::1", "2001:db8:1:200::/56"),
    ("[2001:db8:1:2ff::1]:443", "2001:db8:1:200::/56"),
    ("fe80::1%eth0", "fe80::/56"),
    ("", UNKNOWN),
    ("unix:", UNKNOWN),
    ("_hidden", UNKNOWN),
    ("192.0.2.7, 1.1.1.1", UNKNOWN),
]


@pytest.mark.parametrize(("forwarded", "remote", "proxies", "address"), ADDRESSES)
def test_an_address_is_what_the_outermost_proxy_was_reached_from(
    forwarded: str | None, remote: str | None, proxies: int, address: str
) -> None:
    given = {"HTTP_X_FORWARDED_FOR": forwarded, "REMOTE_ADDR": remote}
    environ = {name: value for name, value in given.items() if value is not None}
    assert address_of(environ, proxies) == address


@pytest.mark.parametrize(("address", "network"), NETWORKS)
def test_neighbours_are_one_client(address: str, network: str) -> None:
    assert network_of(address) == network


ENVIRON = {"REMOTE_ADDR": "192.0.2.7", "HTTP_X_REMOTE_USER": "me", "HTTP_AUTHORIZATION": f"Bearer {SECRET}"}
CLIENTS: list[tuple[dict[str, Any], str]] = [
    ({"write_secret": SECRET, "write_header": "X-Remote-User"}, f"secret {SECRET}"),
    ({"write_secret": SECRET + "!", "write_header": "X-Remote-User"}, "name me"),
    ({"write_header": "X-Other"}, "network 192.0.2.0/24"),
    ({}, "network 192.0.2.0/24"),
]


@pytest.mark.parametrize(("settings", "words"), CLIENTS)
def test_a_secret_counts_before_a_name_and_that_before_a_network(settings: dict[str, Any], words: str) -> None:
    assert words_of(ENVIRON, Settings(**settings)) == words
