from services.cli.exits import MEANINGS, Code, listed


def test_every_code_has_its_meaning_in_the_order_of_the_numbers() -> None:
    assert list(MEANINGS) == sorted(Code)
    assert [line.split()[0] for line in listed().splitlines()] == [str(int(code)) for code in Code]
