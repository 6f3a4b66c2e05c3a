"""How many results of each engine, version and severity there are. Those that are there are forgotten by 0011."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "tried_counts",
        sa.Column("number", sa.Integer, primary_key=True, comment="of this change"),
        sa.Column("engine", sa.String(200), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("severity", sa.String(16), nullable=False),
        sa.Column("many", sa.Integer, nullable=False, comment="results more, or less than 0: fewer"),
        sa.Column("last", sa.String(24), nullable=False, comment="when the last of them came; empty: none did"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drop what was counted; the results stay."""
    op.drop_table("tried_counts")
