"""The tables as SQLAlchemy Core sees them. Migrations build them; a test holds the two together.

Portable on purpose: JSON is text, times are UTC ISO 8601 text, nothing needs a dialect's own types.
"""

from __future__ import annotations

from sqlalchemy import Column, MetaData, String, Table, Text

ID_LENGTH = 16

metadata = MetaData()

cases = Table(
    "cases",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True, comment="content hash; names the permalink for ever"),
    Column("body", Text, nullable=False, comment="canonical JSON of the whole case; empty once deleted"),
    Column("outcome_digest", String(128), nullable=False, comment="digest of the result when it was saved"),
    Column("version", String(64), nullable=False, comment="version of the inspector that saved it"),
    Column("created", String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    Column("delete_key_hash", String(64), nullable=False, comment="SHA-256 of the delete key, hexadecimal"),
    Column("deleted", String(24), nullable=True, comment="UTC time of deletion; NULL while readable"),
)
