"""What the surveys bring to the portal."""

from collections.abc import Mapping
from datetime import timedelta
from types import ModuleType
from typing import TYPE_CHECKING

from app.registry import (
    AUTHOR,
    VIEWER,
    AuditedField,
    JobKind,
    ListRights,
    Module,
    Permission,
    PermissionGroup,
    PolicySwitch,
    Subject,
)

if TYPE_CHECKING:
    from app.problems.kinds import ProblemSource
    from app.web.site import Site

PERMISSIONS = (
    PermissionGroup(
        "Surveys and applications",
        3,
        (
            Permission(
                "surveys.view",
                "See surveys",
                "See surveys, responses and figures, and on the platform the ratings of apps.",
                (AUTHOR, VIEWER),
            ),
            Permission("surveys.author", "Write surveys", "Write, duplicate and delete drafts.", (AUTHOR,)),
            Permission(
                "surveys.publish",
                "Publish surveys",
                "Publish and archive surveys: people will be asked.",
                (AUTHOR,),
            ),
        ),
    ),
)
ACTS = {
    "demo.remove": "Demo data removed",
    "demo.seed": "Demo data added",
    "ledger.head": "Head of the ledger noted",
    "person.erase": "Evidence of a person erased",
    "survey.archive": "Survey archived",
    "survey.close": "Anonymous survey closed",
    "survey.create": "Survey made",
    "survey.delete": "Survey deleted",
    "survey.drop_mail": "Invitations and reminders of a survey dropped",
    "survey.duplicate": "Survey duplicated",
    "survey.invite": "People invited to a survey",
    "survey.new_version": "New version of a survey published",
    "survey.publish": "Survey published",
    "survey.remind": "People reminded of a survey",
    "survey.round": "Round of a survey opened",
    "survey.round_left_out": "Round of a survey left out",
    "survey.save": "Survey saved",
}
SUBJECTS = {
    "demo": Subject("Demo"),
    "ledger": Subject("Ledger"),
    "survey": Subject("Survey", "/surveys/view/"),
}
JOBS = {
    "surveys_tally": JobKind("Count survey responses", timeout=timedelta(minutes=15)),
    "surveys_split": JobKind("Count survey responses by groups of people", timeout=timedelta(minutes=15)),
    "surveys_numbers": JobKind("Count numbers that people gave in surveys", timeout=timedelta(minutes=15)),
    "surveys_rounds": JobKind("Open rounds of surveys", timeout=timedelta(minutes=5)),
    "surveys_close": JobKind("Open the answers of anonymous surveys that are over", timeout=timedelta(minutes=30)),
    "surveys_mail": JobKind("Invite to surveys and remind of them", timeout=timedelta(minutes=15)),
    "surveys_verify": JobKind("Verify the ledger", timeout=timedelta(hours=3)),
    "surveys_head": JobKind("Write the ledger's head to log and audit", timeout=timedelta(minutes=5)),
}
POLICIES = (
    PolicySwitch("module_surveys", True, "modules", "Surveys", "Survey pages, prompts and the end-user API."),
    PolicySwitch("me_apps", True, "api", "List of apps", "GET /v1/api/me/apps"),
    PolicySwitch("me_app_rating", True, "api", "Rating an app", "POST /v1/api/me/app-rating"),
    PolicySwitch("me_surveys", True, "api", "Mobile prompts", "GET /v1/api/me/surveys"),
    PolicySwitch("me_surveys_respond", True, "api", "Answering", "POST /v1/api/me/surveys/respond"),
    PolicySwitch("web_prompts", True, "prompts", "Web prompts", "Surveys come up in the browser, once per sign-in."),
    PolicySwitch(
        "optional_gap_hours",
        0,
        "prompts",
        "Pause between two optional surveys",
        "0 = no pause. Required surveys don't wait for it and don't start it.",
        unit="hours",
        most=24 * 365,
    ),
)


def _audited() -> Mapping[str, AuditedField]:
    from app.surveys import audited

    return audited.FIELDS


def _site() -> "Site":
    from app.surveys import pages
    from app.surveys.api import integration
    from app.surveys.api.surveys import DOCUMENT, ROUTER
    from app.surveys.pages import palette
    from app.web.site import Site

    return Site(
        pages=pages.ROUTES,
        apis=(ROUTER, *integration.ROUTES),
        documents=(DOCUMENT,),
        integration=integration.ENDPOINTS,
        menu=pages.MENU,
        acts=palette.ACTS,
        long_acts=pages.LONG_ACTS,
        palette=(palette.surveys,),
        subjects=palette.SUBJECTS,
        of_person=(palette.responses_of_person,),
    )


def _work() -> ModuleType:
    from app.surveys import jobs

    return jobs


LISTS = (
    ListRights("surveys", "Surveys", "/surveys/list", "surveys.view", "surveys.author"),
    ListRights("responses", "Responses", "/surveys/responses", "surveys.view"),
)


def _problems() -> "ProblemSource":
    from app.surveys.problem_kinds import ledger

    return ledger.PROBLEMS


MODULE = Module(
    permissions=PERMISSIONS,
    acts=ACTS,
    subjects=SUBJECTS,
    audited=_audited,
    policies=POLICIES,
    jobs=JOBS,
    lists=LISTS,
    site=_site,
    work=_work,
    problems=_problems,
)
