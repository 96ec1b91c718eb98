"""Pages are a dict in whatever is read from them, and are never changed in place."""

from copy import deepcopy
from random import Random

import pytest

from services.baccarat.pages import PAGE, Pages, entries, entry, with_entry


@pytest.mark.parametrize("keys", [1, PAGE, 5 * PAGE])
def test_they_hold_what_a_dict_holds_in_the_same_order(keys: int) -> None:
    random = Random(keys)
    pages: Pages[int] = ()
    plain: dict[str, int] = {}
    for number in range(4 * PAGE):
        key = f"b{random.randrange(keys)}"
        before, copied = pages, deepcopy(pages)
        pages = with_entry(pages, key, number)
        plain[key] = number
        assert before == copied
        assert list(entries(pages)) == list(plain.values())
        assert entry(pages, key) == number
    assert entry(pages, "b") is None
    assert max(map(len, pages)) <= PAGE


def test_an_entry_leaves_every_other_page_as_it_is() -> None:
    pages: Pages[int] = ()
    for number in range(3 * PAGE):
        pages = with_entry(pages, f"b{number}", number)
    changed = with_entry(pages, f"b{PAGE}", -1)
    assert [new is old for new, old in zip(changed, pages, strict=True)] == [True, False, True]
