"""Tokenizer files of somebody else's making: what they are, what is wrong with them, and what loads them.

All of it runs in the process of a tokenizer, and nothing here imports more than the standard library at load, so that
this process starts at once.
"""
