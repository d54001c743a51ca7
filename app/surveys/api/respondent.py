"""Makes a respondent of the person who sent a request, for the API and for the prompt in the portal."""

from app.accounts.policies import DEFAULTS
from app.surveys.asking.pacing import Caller
from app.surveys.asking.respondent import Respondent
from app.web.context import Context


def respondent_of(ctx: Context) -> Respondent:
    """Raises NotSignedIn."""
    return Respondent(
        user_id=ctx.user.id,
        caller=Caller(ctx.user.type, ctx.workspace),
        session_id=ctx.user.session_id or 0,
        gap_hours=int(ctx.policies.get("optional_gap_hours", DEFAULTS["optional_gap_hours"])),
        ip=ctx.ip or None,
        browser=ctx.user_agent or None,
        token_made_by=ctx.token_made_by,
        languages=ctx.languages,
    )
