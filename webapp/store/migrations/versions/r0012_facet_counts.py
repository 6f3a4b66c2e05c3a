"""How many listed cases have each value of the library's filters, counted from what is there. And PostgreSQL keeps the
grams of a case beside the row that has its number: a search reads the numbers of thousands of cases, and no grams.

PostgreSQL moves a long value out of its row where the row has more than two thousand bytes, and those with the grams of
a short text have less. What fills them up is blanks, which it packs to some thirty bytes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, and count."""
    op.create_table(
        "facet_counts",
        sa.Column("number", sa.Integer, primary_key=True, comment="of this change"),
        sa.Column("facet", sa.String(8), nullable=False, comment="verdict, parser, engine, tag or check"),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("many", sa.Integer, nullable=False, comment="listed cases more, or less than 0: fewer"),
        sqlite_autoincrement=True,
    )
    for name in ("verdict", "parser", "engine"):
        counted = f"SELECT '{name}', {name}, count(*) FROM listed GROUP BY {name}"  # noqa: S608 - ours
        op.execute(f"INSERT INTO facet_counts (facet, value, many) {counted}")
    counted = "SELECT kind, value, count(*) FROM listed_labels GROUP BY kind, value"
    op.execute(f"INSERT INTO facet_counts (facet, value, many) {counted}")
    if op.get_bind().dialect.name == "postgresql":
        said = "SHA-256 of Idempotency-Key and of whose it is, hexadecimal"
        op.execute(f"COMMENT ON COLUMN answered.key IS '{said}'")
        op.execute("ALTER TABLE listed_grams ALTER COLUMN grams SET STORAGE EXTERNAL")
        op.execute(
            "ALTER TABLE listed_grams ADD COLUMN filler TEXT NOT NULL GENERATED ALWAYS AS (repeat(' ', 2500)) STORED"
        )


def downgrade() -> None:
    """Drop what was counted; the cases stay."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE listed_grams DROP COLUMN filler")
        op.execute("ALTER TABLE listed_grams ALTER COLUMN grams SET STORAGE EXTENDED")
    op.drop_table("facet_counts")
