"""Surveys to begin from: each can be published as it is, but for what its message asks the author to fill in."""

from datetime import UTC, datetime

import pytest

from app.surveys.authoring.definition import checked, tidy, unpublishable
from app.surveys.authoring.starters import STARTERS, Starter

NOW = datetime(2026, 11, 25, tzinfo=UTC)


@pytest.mark.parametrize("starter", STARTERS.values(), ids=STARTERS)
def test_a_starter_can_be_saved_and_published_as_it_is(starter: Starter) -> None:
    definition = starter.definition
    assert unpublishable(checked(definition), NOW) == []
    assert tidy(definition).message == definition.message, "nothing of its message is taken out"


def test_an_acknowledgement_is_required_and_a_consent_is_not() -> None:
    assert STARTERS["policy"].definition.enforcement == "required"
    assert STARTERS["photos"].definition.enforcement == "optional"
    assert STARTERS["photos"].definition.agreement is not None
