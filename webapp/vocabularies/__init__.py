"""Tokenizer files of somebody else's making: what they are, what is wrong with them, and the process they live in.

Nothing here imports more than the standard library at load, so that the process starts at once.
"""
