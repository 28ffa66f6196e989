"""Which images are on which nodes: a bit per node and image, because a cluster has thousands of both."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from api.node import ContainerImage


class ImageTable:
    """Images by name; an image has several names (tags and digests), each counts as its own."""

    def __init__(self) -> None:
        self.version = 0
        """Raised with every change."""
        self._number_of: dict[str, int] = {}
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._holders: list[bytearray] = []
        self._held: list[int] = []
        self._spare: list[int] = []
        self._on_slot: dict[int, tuple[ContainerImage, ...]] = {}

    def set(self, slot: int, images: tuple[ContainerImage, ...]) -> None:
        """The images of a node are these now."""
        before = self._on_slot.get(slot, ())
        if images == before:
            return
        self.version += 1
        held, now = _names(before), _names(images)
        for name in now.keys() - held.keys():
            self._mark(self._number(name, now[name]), slot)
        for name in held.keys() - now.keys():
            self._clear(self._number_of[name], slot)
        if images:
            self._on_slot[slot] = images
        else:
            del self._on_slot[slot]

    def nodes_with(self, name: str) -> int:
        """How many nodes have the image."""
        number = self._number_of.get(name)
        return 0 if number is None else self._held[number]

    def size_bytes(self, name: str) -> int:
        """The size the first node to have it stated."""
        return self._sizes[self._number_of[name]]

    def holders(self, name: str, slots: int) -> NDArray[np.int64]:
        """1 for each node slot that has the image, 0 for the others."""
        bits = np.frombuffer(self._holders[self._number_of[name]], dtype=np.uint8)
        return np.unpackbits(bits, bitorder="little", count=slots).astype(np.int64)

    def _number(self, name: str, size_bytes: int) -> int:
        number = self._number_of.get(name)
        if number is None:
            number = self._spare.pop() if self._spare else len(self._names)
            if number == len(self._names):
                self._names.append("")
                self._sizes.append(0)
                self._held.append(0)
                self._holders.append(bytearray())
            self._number_of[name] = number
            self._names[number], self._sizes[number] = name, size_bytes
        return number

    def _mark(self, number: int, slot: int) -> None:
        bits = self._holders[number]
        if slot // 8 >= len(bits):
            bits.extend(bytes(slot // 8 + 1 - len(bits)))
        bits[slot // 8] |= 1 << slot % 8
        self._held[number] += 1

    def _clear(self, number: int, slot: int) -> None:
        self._holders[number][slot // 8] &= ~(1 << slot % 8)
        self._held[number] -= 1
        if not self._held[number]:
            del self._number_of[self._names[number]]
            self._names[number], self._holders[number] = "", bytearray()
            self._spare.append(number)


def _names(images: Iterable[ContainerImage]) -> dict[str, int]:
    """Every name of these images with the size."""
    return {name: image.size_bytes for image in images for name in image.names}
