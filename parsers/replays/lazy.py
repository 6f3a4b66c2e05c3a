"""Sequences that hold numbers and make their items when these are asked for."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar, overload

Item = TypeVar("Item")


class Lazy(Sequence[Item]):
    """A sequence whose items are made when they are asked for. It equals every sequence of equal items."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def _make(self, index: int) -> Item:
        """The item at `index`, which is inside the sequence."""

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self._make(at) for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self._make(at)

    def __iter__(self) -> Iterator[Item]:
        return map(self._make, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))


class Numbers(Lazy[int]):
    """Numbers that take four bytes each."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = array("i", numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def _make(self, index: int) -> int:
        return self._numbers[index]
