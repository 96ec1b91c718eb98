"""Errors: one tree, drawn at the top of its module as it is."""

import inspect

from services.baccarat import errors
from services.baccarat.cards import UnknownCard
from services.baccarat.errors import PuntoError, Unfit, Unusable


def tree(kind: type[Exception], depth: int = 0) -> list[tuple[int, str]]:
    below = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return [(depth, kind.__name__), *(line for child in below for line in tree(child, depth + 1))]


def test_the_tree_is_drawn_as_it_is() -> None:
    drawn = []
    for line in (inspect.getdoc(errors) or "").splitlines():
        name = line.replace("|", " ").replace("+--", "   ").split()
        if name and hasattr(errors, name[0]):
            drawn.append(((len(line) - len(line.lstrip(" |+-"))) // 4, name[0]))
    depth = drawn[0][0]
    assert sorted((level - depth, name) for level, name in drawn) == sorted(tree(PuntoError))


def test_a_record_that_cannot_be_used_says_how_by_a_code() -> None:
    error = Unfit("too-large", "A fact has 10 bytes too many")
    assert isinstance(error, Unusable)
    assert (error.code, str(error)) == ("too-large", "A fact has 10 bytes too many")


def test_unreadable_text_of_a_card_is_a_value_error() -> None:
    assert issubclass(UnknownCard, ValueError)
