"""Trains the embedded tokenizer: `python -m tests.webapp.tokenizers.train [--check]`.

The model is a pure function of `corpus.txt` and of the constants below. Training twice gives the same bytes, so
`embedded.json` can be proved rather than trusted: `--check` trains again and compares.

===================  ======================================================================================
vocabulary           256 byte tokens, then merges until there are 2,048; no added tokens, no markers
pre-tokenizer        words with the one sign before them, up to three digits, runs of signs with the line
                     ends after them, line ends, blanks: the habits of today's chat models (Llama 3,
                     Qwen 2.5), whose tokens glue quotes, brackets and line ends together
normalizer           none: what goes in comes out, byte for byte
post-processor       none: nothing is added around the text
===================  ======================================================================================

The corpus is frozen. Changing it changes every token id, and with it what saved cases look like beside new ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCAB_SIZE = 2048
CORPUS = Path(__file__).resolve().with_name("corpus.txt")
MODEL = CORPUS.parents[3] / "webapp" / "tokenizers" / "embedded.json"

WORDS = (
    r"[^\r\n\p{L}\p{M}\p{N}]?[\p{L}\p{M}]+"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)


def train(text: str) -> bytes:
    """The tokenizer trained on `text`, as the bytes of its `tokenizer.json`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=[],
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return (tokenizer.to_str() + "\n").encode()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.webapp.tokenizers.train", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--check", action="store_true", help="train again and compare, write nothing")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="the training text, UTF-8")
    parser.add_argument("--model", type=Path, default=MODEL, help="the tokenizer.json to write or to compare with")
    options = parser.parse_args(argv)
    trained = train(options.corpus.read_bytes().decode("utf-8"))
    if not options.check:
        options.model.write_bytes(trained)
        print(f"{options.model.name}: {len(trained):,} bytes written")
        return 0
    same = options.model.read_bytes() == trained
    print(f"{options.model.name}: {'as trained' if same else f'differs from what {options.corpus.name} gives'}")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
