"""Alembic's environment and the migrations, one file per schema revision in `versions/`."""
