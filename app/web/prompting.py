"""On which pages the survey prompt opens by itself, as far as a page can know: switches, and pages that it never
covers.

What is open for whom, the surveys decide; the page only asks for it (templates/layout.html).
"""

from app.accounts.policies import enabled
from app.web.context import Context

# Pages where people answer, withdraw, get help, or sign out.
LIST = "/me/questions"
ANSWERS = "/me/answers"
NEVER_COVERED = ("/survey_prompt", LIST, ANSWERS, "/help", "/sign-out")
AUTHORS_PAGES = "/surveys"


def listed(context: Context) -> bool:
    """True when the signed-in person has a list of what they may answer, even if no prompt opens by itself."""
    return context.person is not None and enabled(context.policies, "module_surveys")


def offered(context: Context) -> bool:
    """True when the signed-in person's workspace asks in the portal at all."""
    switches = ("module_surveys", "web_prompts")
    return context.person is not None and all(enabled(context.policies, name) for name in switches)


def opens(context: Context, path: str) -> bool:
    """True when the prompt may open over the page at `path`."""
    kept = (*NEVER_COVERED, AUTHORS_PAGES) if context.may("surveys.publish") else NEVER_COVERED
    return offered(context) and not any(path == one or path.startswith(f"{one}/") for one in kept)
