"""Every table is on the list of what moves, with an answer for each secret, in an order in which it can be loaded."""

import pytest

from app.db.base import Base
from app.db.steps import module_of
from app.moving import tables
from app.sealed import SEALED

NAMES = [one.name for one in tables.TRAVELLING]


def known() -> dict[str, str | None]:
    """The module of each table."""
    return {
        mapper.local_table.name: module_of(mapper.class_.__module__)  # type: ignore[attr-defined]
        for mapper in Base.registry.mappers
    }


def test_every_table_belongs_to_a_module_that_migrates_it() -> None:
    assert {one: module for one, module in known().items() if module is None} == {}


def test_every_table_moves_or_stays() -> None:
    assert sorted([*NAMES, *tables.STAYING]) == sorted(known()), "say in app/moving/tables.py what happens to it"


def test_shared_tables_are_narrowed_to_the_tenant_and_others_are_not() -> None:
    for one in tables.TRAVELLING:
        assert one.is_shared == (known()[one.name] == "shared"), one.name


def test_a_table_comes_after_those_that_it_refers_to() -> None:
    for place, one in enumerate(tables.TRAVELLING):
        needed = {key.column.table.name for key in one.table.foreign_keys} - {one.name}
        assert needed <= set(NAMES[:place]), one.name
    assert NAMES.index("survey_people") < NAMES.index("survey_person_keys")


def test_every_secret_travels_resealed_or_stays() -> None:
    for one in (one for one in SEALED if one.table.name not in tables.STAYING):
        moved = next(table for table in tables.TRAVELLING if table.name == one.table.name)
        assert one.column in (*moved.sealed, *moved.left), one.name
    assert sum(len(one.sealed) for one in tables.TRAVELLING) == len(SEALED) - 2, (
        "the session of the clock stays, and mails"
    )


@pytest.mark.parametrize("one", tables.TRAVELLING, ids=lambda one: one.name)
def test_columns_that_are_named_exist(one: tables.MovingTable) -> None:
    there = set(one.table.columns.keys()) | {column.name for column in one.table.columns}
    assert {*one.refers, *one.sealed, *one.left, *one.instead} <= there


def test_whatever_looks_like_an_account_is_renumbered_or_a_person_number() -> None:
    """`survey_responses`, `survey_changes` and `survey_person_keys` hold person numbers, which stay."""
    for one in tables.TRAVELLING:
        accounts = {
            str(column.name) for column in one.table.columns if column.name in ("user_id", "actor_id", "made_by_id")
        }
        if one.name not in ("survey_responses", "survey_changes", "survey_person_keys"):
            assert accounts <= set(one.refers), one.name
