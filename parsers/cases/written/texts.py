"""Texts as models write them: plain sentences, as long as is asked for, drawn from a few hundred words."""

from __future__ import annotations

from random import Random

_WORDS = (
    "the a of to and in is that for it with as on be at this by have from or one had not but what all were when we"
    " there can an your which their said if do will each about how up out them then she many some so these would other"
    " into has more her two like him see time could no make than first been its who now people my made over did down"
    " only way find use may water long little very after words called just where most know get through back much go good"
    " new write our used me man too any day same right look think also around another came come work three must because"
    " does part even place well such here take why things help put years different away again off went old number great"
    " tell men say small every found still between name should home big give air line set own under read last never us"
    " left end along while might next sound below saw something thought both few those always looked show large often"
    " together asked house world going want school important until form food keep children feet land side without boy"
    " once animals life enough took sometimes four head above kind began almost live page got earth need far hand high"
    " year mother light parts country father let night following picture being study second eyes soon times story boys"
    " since white days ever paper hard near sentence better best across during today others however sure means knew try"
    " told young miles sun ways thing whole hear example heard several change answer room sea against top turned learn"
    " point city play toward five using himself usually"
).split()
_MARKS = (".", ".", ".", ".", "?", "!", ":")


def sentences(draw: Random, words: int) -> str:
    """Sentences of about so many words in all."""
    said: list[str] = []
    while words > 0:
        size = min(words, draw.randint(4, 18))
        one = draw.choices(_WORDS, k=size)
        if size > 8:
            one[size // 2] += ","
        said.append(f"{' '.join(one).capitalize()}{draw.choice(_MARKS)}")
        words -= size
    return " ".join(said)
