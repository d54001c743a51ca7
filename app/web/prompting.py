"""On which pages the survey prompt opens by itself, so far as a page can know: switches, and pages that it never covers.

What waits for whom is the surveys' matter; the page only asks for it (templates/layout.html).
"""

from app.accounts.policies import enabled
from app.web.context import Context

# Where one answers, withdraws, gets help, or signs out.
LIST = "/me/questions"
ANSWERS = "/me/answers"
NEVER_COVERED = ("/survey_prompt", LIST, ANSWERS, "/help", "/sign-out")
AUTHORS_PAGES = "/surveys"


def listed(context: Context) -> bool:
    """True when the person, who is signed in, finds a list of what they may answer: also where no prompt opens by itself."""
    return context.person is not None and enabled(context.policies, "module_surveys")


def offered(context: Context) -> bool:
    """True when the workspace of the person, who is signed in, asks in the portal at all."""
    switches = ("module_surveys", "web_prompts")
    return context.person is not None and all(enabled(context.policies, name) for name in switches)


def opens(context: Context, path: str) -> bool:
    """True when the prompt may open over the page at `path`."""
    kept = (*NEVER_COVERED, AUTHORS_PAGES) if context.may("surveys.publish") else NEVER_COVERED
    return offered(context) and not any(path == one or path.startswith(f"{one}/") for one in kept)
