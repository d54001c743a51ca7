"""What `respond` refuses, with the codes of 404, 409 and 422. Pure."""

from collections.abc import Sequence

from app.errors import Conflict, Invalid, NotFound
from app.wording.marked import marked, worded


class SurveyNotFound(NotFound):
    """Not open for this person: a draft, an archived survey, one outside its window or for other people, or one that
    was answered already."""

    code = "survey_not_found"

    def __init__(self) -> None:
        super().__init__(marked("There is no such survey for you to answer at present."))


class VersionSuperseded(Conflict):
    code = "version_superseded"

    def __init__(self) -> None:
        super().__init__(marked("The survey has changed since it was shown. Reload it and answer the new version."))


class ActionNotAllowed(Conflict):
    """`actions` are those that the survey accepts."""

    code = "action_not_allowed"

    def __init__(self, action: str, actions: Sequence[str]) -> None:
        taken = ", ".join(actions)
        super().__init__(
            worded("This survey does not take the action {action}; it takes {taken}.", action=action, taken=taken)
        )


class InvalidAnswers(Invalid):
    """`field` of each detail is the id of the question."""

    code = "invalid_answers"
