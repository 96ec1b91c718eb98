"""Where things stand in a TOML text."""

from decimal import Decimal

import pytest

from services.baccarat.toml_lines import NotToml, line_of_error, parse

TEXT = '''\
# a comment
name = "a # b"  # another
"quoted key" = 'c'
dotted.key = 1.50
long = """
x = 1
[not.a.table]
"""
literal = \'\'\'
y = 2\'\'\'

list = [1, "two, ]", # three
  { a = 1, b = { c = [
    2, 3] } },
  [ ],
  {},
]
inline = {one = 1, two = "}"}

[table]
key = true
[table.below]
deep = -3

[[items]]
name = "first"

[[items]]
name = "second"
[items.part]
size = 1
[[items.part.more]]
x = 1

[ spaced . "out" ]
last = 1979-05-27
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 2),
        (("quoted key",), 3),
        (("dotted",), 4),
        (("dotted", "key"), 4),
        (("long",), 5),
        (("literal",), 9),
        (("list",), 12),
        (("list", 0), 12),
        (("list", 1), 12),
        (("list", 2), 13),
        (("list", 2, "b", "c", 1), 14),
        (("list", 3), 15),
        (("list", 4), 16),
        (("inline", "two"), 18),
        (("table",), 20),
        (("table", "key"), 21),
        (("table", "below", "deep"), 23),
        (("items",), 25),
        (("items", 0, "name"), 26),
        (("items", 1), 28),
        (("items", 1, "name"), 29),
        (("items", 1, "part", "size"), 31),
        (("items", 1, "part", "more", 0, "x"), 33),
        (("spaced", "out", "last"), 36),
    ],
)
def test_the_line_of(path: tuple[str | int, ...], line: int) -> None:
    assert parse(TEXT).line(path) == line


def test_what_is_not_written_stands_where_it_would() -> None:
    document = parse(TEXT)
    assert document.line(("table", "below", "no", 3)) == 22
    assert document.line(("nothing",)) == 1
    assert document.line(()) == 1
    assert parse("").line(("x",)) == 1


def test_decimals_are_exact() -> None:
    assert parse(TEXT).values["dotted"]["key"] == Decimal("1.50")
    assert parse("a = 1e3").line(("a",)) == 1


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb = \n", 2), ("a = [1,\n2,\n", 2), ("a = 1\na = 2", 2)])
def test_what_is_no_toml(text: str, line: int) -> None:
    with pytest.raises(NotToml) as raised:
        parse(text)
    assert raised.value.line == line
    assert "\n" not in str(raised.value)


def test_a_message_without_a_line_means_the_end() -> None:
    assert line_of_error("a\nb\n", "ended (at end of document)") == 2
    assert line_of_error("", "ended") == 1
