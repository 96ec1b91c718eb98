"""Maps that grow by thousands, shared by the states that hold them: an entry copies one page, not the whole.

Pages are ordinary dicts in a tuple, in the order of their entries. With ten entries there is one page, and nothing
is different from a dict; with a thousand a copy of all for each further one would be most of the work.
"""

from collections.abc import Iterator
from typing import Final, TypeVar

V = TypeVar("V")

Pages = tuple[dict[str, V], ...]
PAGE: Final = 64


def entry(pages: Pages[V], key: str) -> V | None:
    """What stands under this key, if anything."""
    for page in pages:
        if key in page:
            return page[key]
    return None


def entries(pages: Pages[V]) -> Iterator[V]:
    """All that stands there, in the order in which the keys came."""
    for page in pages:
        yield from page.values()


def with_entry(pages: Pages[V], key: str, value: V) -> Pages[V]:
    """The pages with this entry: a known key keeps its place."""
    for number, page in enumerate(pages):
        if key in page:
            return (*pages[:number], {**page, key: value}, *pages[number + 1 :])
    if not pages or len(pages[-1]) >= PAGE:
        return (*pages, {key: value})
    return (*pages[:-1], {**pages[-1], key: value})
