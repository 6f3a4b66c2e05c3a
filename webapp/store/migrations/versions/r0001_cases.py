"""The table of saved cases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create `cases`."""
    op.create_table(
        "cases",
        sa.Column("id", sa.String(16), primary_key=True, comment="content hash; names the permalink for ever"),
        sa.Column("body", sa.Text, nullable=False, comment="canonical JSON of the whole case; empty once deleted"),
        sa.Column("outcome_digest", sa.String(128), nullable=False, comment="digest of the result when it was saved"),
        sa.Column("version", sa.String(64), nullable=False, comment="version of the inspector that saved it"),
        sa.Column("created", sa.String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
        sa.Column("delete_key_hash", sa.String(64), nullable=False, comment="SHA-256 of the delete key, hexadecimal"),
        sa.Column("deleted", sa.String(24), nullable=True, comment="UTC time of deletion; NULL while readable"),
    )


def downgrade() -> None:
    """Drop `cases`, and with it every saved case."""
    op.drop_table("cases")
