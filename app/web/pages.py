"""How a handler answers: a page or the block of it that htmx asked for, or a redirect after a POST."""

from collections.abc import Sequence
from typing import Any, TypeVar

from litestar import Response
from litestar.enums import MediaType
from litestar.response import Redirect

from app.web import csrf, menu, prompting, sessions
from app.web.context import Context
from app.web.drafts import carrying
from app.web.menu import MenuGroup
from app.web.returning import way_back
from app.web.templating import render, render_fragment, with_query
from app.wording.speech import ENGLISH_SPEECH, Speech, speaking

# Makes lists behind a drawer fetch their rows again.
CHANGED = {"HX-Trigger": "muster:changed"}
# What htmx calls the dialog.
DIALOG = "dialog"
# A preference of a person: no act by a single key.
NO_KEYS = "no_keys"
Body = TypeVar("Body", str, bytes)


async def page(
    context: Context,
    template: str,
    *,
    fragment: str | None = None,
    status: int = 200,
    headers: dict[str, str] | None = None,
    **values: Any,
) -> Response[str]:
    """Renders `template`; when htmx asks and `fragment` is given, only that block.

    Templates always get `ctx`, `csrf_token`, `person_mark` (app.web.drafts.carrying), the `zone` in which times are
    shown (app.dates), and the way back as `back` ("" for none) and `back_query`. Whole pages also get what the layout
    names (templates/layout.html).
    """
    back, zone = await way_back(context), await context.zone()
    values = {"zone": zone, "back": back, "back_query": with_query("", {"back": back}), **values}
    values["person_mark"] = carrying.mark_of(context.parts.keys, context.person.id) if context.person else ""
    if fragment is not None and context.wants_fragment:
        values |= _speeches(context, menu.visible(context.request.app.state.menu, context))
        with speaking(context.speech):
            html = render_fragment(template, fragment, ctx=context, csrf_token=csrf.token_of(context), **values)
        said = await _said_before(context)
        html, headers = html + said, {**CHANGED, **(headers or {})} if said else headers
    else:
        flashes = await sessions.take_flashes(context) if context.person else []
        await context.request.app.state.workers.look(context)
        with speaking(context.speech):
            shell = frame(context)
            # A prompt does not cover what is shown once.
            shell["prompt_opens"] &= not any("once" in one for one in flashes)
            html = render(template, **shell, flashes=flashes, **values)
    headers = {"Vary": "HX-Request", **(headers or {})}
    return Response(html, status_code=status, media_type=MediaType.HTML, headers=headers)


async def _said_before(context: Context) -> str:
    """The message of an act in the drawer that led to another page of the drawer; it is shown beside that page."""
    if context.request.headers.get("HX-Target") != "drawer" or not context.flashes:
        return ""
    return render("components/said.html", flashes=await sessions.take_flashes(context))


def shown_once(answer: Response[Body]) -> Response[Body]:
    """For a page that shows a secret: nothing on the way to the reader may store, change or compress it."""
    answer.headers["Cache-Control"] = "no-store, no-transform"
    return answer


def frame(context: Context) -> dict[str, Any]:
    """What the layout shows around every page: menu by permission, workspace and user, and whether the survey prompt
    opens."""
    groups = menu.visible(context.request.app.state.menu, context)
    return {
        "ctx": context,
        **_speeches(context, groups),
        "csrf_token": csrf.token_of(context),
        "menu": menu.rendered(groups, context),
        "notice": context.request.app.state.workers.notice(context),
        "workspace": context.person.workspace_name if context.person else "",
        "user": context.person,
        "keys": context.person is not None and not context.person.preferences.get(NO_KEYS),
        "lists_questions": prompting.listed(context),
        "questions_here": context.request.url.path.startswith(prompting.LIST),
        "answers_here": context.request.url.path.startswith(prompting.ANSWERS),
        "prompts": prompting.offered(context),
        "prompt_opens": prompting.opens(context, context.request.url.path),
    }


def _speeches(context: Context, groups: Sequence[MenuGroup]) -> dict[str, Speech]:
    """How the page speaks, the frame around it (`shell`), and the prompt over it (`asked_in`). A frame with a menu is
    for people who run Muster; a frame without one speaks the person's language on each of their pages."""
    in_english = context.person is not None and len(groups) > 0
    shell = ENGLISH_SPEECH if in_english else context.asked_in if context.person else context.speech
    return {"speech": context.speech, "shell": shell, "asked_in": context.asked_in}


def go(url: str) -> Redirect:
    """A 303 after a POST; htmx follows it like a browser."""
    return Redirect(url, status_code=303)


async def done(
    context: Context,
    url: str,
    message: str,
    *,
    level: str = "success",
    gone: str = "",
    sent: str = "",
    see: tuple[str, str] | None = None,
) -> Redirect:
    """Leaves a message and goes back to where the form was opened from, otherwise to `url`. Pages of the address `gone`
    are no way back. `sent` and `see` as in sessions.flash."""
    await sessions.flash(context, message, level=level, sent=sent, see=see)
    return go(await way_back(context, gone=gone) or url)


async def saved(context: Context, url: str, name: str, *, changed: bool) -> Redirect:
    """`done` after an edit form: what was saved, or that nothing was changed."""
    message = f"{name} was saved." if changed else "Nothing was changed."
    return await done(context, url, message, level="success" if changed else "info")


def leaving_dialog(context: Context, answer: Redirect) -> Response[Any]:
    """For an answer to a form that htmx posted from the dialog (dialogs.confirm, `hx_target`): the whole browser
    follows it. Only a refusal of such a form stays, beside the form."""
    if not context.wants_fragment:
        return answer
    return Response(None, status_code=204, headers={"HX-Redirect": answer.url})
