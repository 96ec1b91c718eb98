"""Names, menus and the configuration of a small table; the figures are in test_odds_published."""

import pytest

from services.baccarat.catalogue import MENUS, SIDE_BETS, VARIANTS, called, configuration, side_bet_of, variant_of
from services.baccarat.errors import BadSettings


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("super-6", "super-6"),
        ("Super 6", "super-6"),
        ("punto 2000", "super-6"),
        ("NEPAL BACCARAT", "super-6"),
        ("commission-free baccarat", "super-6"),
        ("Punto Banco", "classic"),
        ("Dynasty", "ez"),
        ("fabulous_4", "fabulous-4"),
    ],
)
def test_a_variant_is_found_by_slug_name_and_alias(name: str, slug: str) -> None:
    assert variant_of(name).slug == slug


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Lucky 6", "lucky_6"),
        ("big tiger", "big_6"),
        ("P Pair", "player_pair"),
        ("oyuncu çifti", "player_pair"),
        ("Fortune 6 (name unverified)", "lucky_6"),
        ("Big, 0.52 to 1", "big_52"),
    ],
)
def test_so_is_a_side_bet(name: str, slug: str) -> None:
    assert side_bet_of(name).slug == slug


def test_an_alias_may_be_shared() -> None:
    assert [bet.slug for bet in called("5 treasures", SIDE_BETS)] == ["heavenly_9", "blazing_7s"]
    assert called("pontoon", SIDE_BETS) == ()


def test_a_name_that_is_none() -> None:
    with pytest.raises(BadSettings, match=r"no variant is called 'pontoon'; there are classic, "):
        variant_of("pontoon")
    with pytest.raises(BadSettings, match=r"no side bet is called 'pontoon'; `punto variants side-bets`"):
        side_bet_of("pontoon")


def test_every_row_names_its_source() -> None:
    assert all(row.source and row.name for row in VARIANTS.values())
    assert all(row.source and row.name for row in SIDE_BETS.values())


def test_menus_are_of_side_bets_and_any_goes_with_any_game() -> None:
    assert {bet for menu in MENUS.values() for bet in menu} <= SIDE_BETS.keys()
    assert not SIDE_BETS.keys() & {bet for variant in VARIANTS.values() for bet in variant.mains}


@pytest.mark.parametrize("slug", VARIANTS)
def test_a_table_of_each_variant(slug: str) -> None:
    how = configuration(slug, currency="JPY", exponent=0, decks=6)
    assert (how.variant, how.name, how.currency, how.decks) == (slug, VARIANTS[slug].name, "JPY", 6)
    assert [terms.bet for terms in how.pay_table] == [*VARIANTS[slug].mains, *VARIANTS[slug].menu]
    limits = {terms.bet: (terms.min_minor, terms.max_minor, terms.main) for terms in how.pay_table}
    assert limits["banker"] == (100, 500_000, True)
    assert limits["tie"] == (100, 50_000, True)
    assert limits[VARIANTS[slug].menu[0]] == (100, 50_000, False)


def test_a_table_by_another_name_is_of_the_same_variant() -> None:
    assert configuration("Dynasty") == configuration("ez")
