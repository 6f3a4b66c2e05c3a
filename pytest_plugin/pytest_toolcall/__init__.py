"""Case files of Toolcall Inspector as tests (docs/pytest-plugin.md)."""
