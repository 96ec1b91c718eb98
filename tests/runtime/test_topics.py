from msgspec.structs import replace

from services.baccarat.events import BETS, EVENTS_OF
from services.runtime.settings import Settings
from services.runtime.topics import MISSING, PARTITIONS, REPLICAS, TOPICS, Found, differences, wanted_settings

SETTINGS = Settings(topic_prefix="a.", partitions=4)


def right(copies: int = 1, partitions: int = 4) -> dict[str, Found]:
    return {
        f"a.{plain}": Found(partitions, copies, {**wanted_settings(plain, copies), "x": "y"}, {}) for plain in TOPICS
    }


def test_every_topic_that_has_events_is_one_of_the_topics() -> None:
    assert set(EVENTS_OF) <= set(TOPICS)


def test_nothing_differs_where_all_is_right() -> None:
    assert differences(SETTINGS, right(), 1) == []
    assert differences(SETTINGS, right(3), 5) == []


def test_an_empty_cluster_misses_all() -> None:
    missing = differences(SETTINGS, {}, 3)
    assert [(one.topic, one.what) for one in missing] == [(f"a.{plain}", MISSING) for plain in TOPICS]
    assert str(missing[0]) == "a.table-feed: missing, to be created with 4 partitions, 3 replicas"


def test_a_wrong_count_too_few_replicas_and_a_wrong_setting_each_say_what_they_must_be() -> None:
    found = right()
    found["a.bets"] = replace(
        found["a.bets"], partitions=5, settings={**found["a.bets"].settings, "message.timestamp.type": "CreateTime"}
    )
    assert [str(one) for one in differences(SETTINGS, found, 1)] == [
        "a.bets: partitions is 5, must be 4",
        "a.bets: message.timestamp.type is CreateTime, must be LogAppendTime",
    ]
    assert {one.what for one in differences(SETTINGS, right(), 3)} == {REPLICAS}
    assert {one.what for one in differences(SETTINGS, right(partitions=3), 1)} == {PARTITIONS}


def test_two_of_three_copies_must_have_a_write_and_a_single_copy_can_still_be_written() -> None:
    assert wanted_settings(BETS, 3)["min.insync.replicas"] == "2"
    assert wanted_settings(BETS, 1)["min.insync.replicas"] == "1"


def test_facts_are_kept_for_ever_and_snapshots_are_compacted() -> None:
    kept = {plain for plain in TOPICS if TOPICS[plain].get("retention.ms") == "-1"}
    assert kept == set(EVENTS_OF)
    assert all(TOPICS[plain]["cleanup.policy"] == ("delete" if plain in kept else "compact") for plain in TOPICS)
