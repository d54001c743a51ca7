"""Every edit form of every page, in two browsers: the second save is refused with the difference,
and goes through when repeated.

The walk finds the forms by itself. A form with something to fill in either carries what it was made from, or stands in
NO_EDIT with the reason.
"""

import html
import re
from typing import Any

import httpx

from app.parts import Parts
from app.web.edits import BASE
from tests.clock.syncing import Site
from tests.conftest import Browser, SignIn
from tests.one_of_each import addresses, one_of_each
from tests.rendered_forms import Control, Rendered, RenderedForm
from tests.test_odd_requests import handlers

# A survey's editor counts its saves: a version and a publication make it stale too
# (tests.surveys.authoring.test_stale_forms).
COUNTED = "revision"
FILLED_IN = ("text", "email", "search", "textarea", "number", "date", "datetime-local", "select", "checkbox", "radio")
CREATES, ACTS, OWN, SECRET = "makes something new", "acts, and says on what", "one's own alone", "a secret, never shown"
NO_EDIT = {
    "/account/tokens/new": CREATES,
    "/admin/tokens/new": CREATES,
    "/admin/roles/new": CREATES,
    "/admin/tenants/{key}/administrator": CREATES,
    "/admin/users/new": CREATES,
    "/admin/users/types": CREATES,
    "/apps/add": CREATES,
    "/attendance/add": CREATES,
    "/attendance/locks/lock": CREATES,
    "/kiosk/enrol": CREATES,
    "/people/add": CREATES,
    "/webhooks/new": CREATES,
    "/surveys/form": CREATES,
    "/surveys/save": CREATES,
    "/surveys/try/{uid}": ACTS,
    "/survey_prompt/submit": CREATES,
    "/me/questions/{uid}": CREATES,
    "/account/password": SECRET,
    "/account/second-factor": SECRET,
    "/account/notifications": OWN,
    "/account/passkeys/{passkey_id}/rename": OWN,
    "/preferences/columns/{name}": OWN,
    "/preferences/keys": OWN,
    "/preferences/language": OWN,
    "/views/{name}": OWN,
    "/clock_employees/{employee_id}/bind": ACTS,
    "/clock_sync/backfill": ACTS,
    "/problems/{problem_id}/assign": ACTS,
    "/problems/{problem_id}/dismiss": ACTS,
    "/clock_sync/start": ACTS,
    "/clock_sync/start_over": ACTS,
    "/people/erase/{user_id}": ACTS,
}
# The field that both change, where the first one that can be changed would ask for a password or a yes.
CHANGED = {"/clock_settings/connection": "company", "/attendance/{record_id}/edit": "note"}
# What is typed: the first one's, and the second one's.
ADDRESSES = {"/webhooks/{webhook_id}/edit": ("https://theirs.example/", "https://mine.example/")}
TYPED = {"text": ("Theirs", "Mine"), "textarea": ("Theirs", "Mine"), "number": ("7", "8")}


def is_edited(form: RenderedForm) -> bool:
    return BASE in form.names or COUNTED in form.names


def fillable(form: RenderedForm) -> list[Control]:
    """What somebody fills in; the boxes of a list's rows only choose."""
    return [one for one in form.controls if one.kind in FILLED_IN and one.name not in ("id", "all")]


async def posted_to(app: Any, action: str) -> str:
    """The `path_format` of the route that takes a form."""
    routes = [path for path, _ in handlers(app, "POST")]
    fits = [one for one in routes if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(one)), action)]
    return min(fits, key=lambda one: one.count("{"))


async def every_form(app: Any, found: Site, browser: Browser) -> dict[str, tuple[str, RenderedForm]]:
    """By the route that takes it: the page where it stands, and the form."""
    forms: dict[str, tuple[str, RenderedForm]] = {}
    for path, _ in handlers(app, "GET"):
        for url in await addresses(found, path):
            for form in Rendered((await browser.get(url)).text, url).forms:
                if form.method == "post":
                    forms.setdefault(await posted_to(app, form.action), (url, form))
    return forms


async def test_every_edit_form_refuses_a_stale_save(app: Any, parts: Parts, sign_in: SignIn) -> None:
    mine, theirs = await sign_in("alice"), await sign_in("alice")
    async with one_of_each(parts) as found:
        forms = await every_form(app, found, mine)
        edits = {route: at for route, at in forms.items() if is_edited(at[1])}
        assert {route for route, (_, form) in forms.items() if fillable(form)} - set(edits) == set(NO_EDIT)
        for route, (page, _) in edits.items():
            if BASE in forms[route][1].names:
                await _both_edit(route, page, mine, theirs)
    assert len(edits) == 21


async def _both_edit(route: str, page: str, mine: Browser, theirs: Browser) -> None:
    opened = [await _form(browser, page, route) for browser in (mine, theirs)]
    changed = _to_change(route, opened[0])
    first, second = ADDRESSES.get(route) or _values(changed)
    assert (await _save(theirs, opened[1], changed.name, first)).status_code == 303, route
    refused = await _save(mine, opened[0], changed.name, second)
    assert refused.status_code == 409, route
    assert "Not saved: you changed this after you opened the form" in html.unescape(refused.text), route
    assert f'name="take-{changed.name}" value="theirs"' in refused.text, route
    assert _shown(await _form(mine, page, route), changed.name) == first, f"{route}: the first save was overwritten"
    again = _like(refused, opened[0])
    assert _shown(again, changed.name) == second, f"{route}: what was typed is lost"
    assert (await _save(mine, again, changed.name, second)).status_code == 303, route
    assert _shown(await _form(mine, page, route), changed.name) == second, route


async def _form(browser: Browser, page: str, route: str) -> RenderedForm:
    pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route))
    forms = Rendered((await browser.get(page)).text, page).forms
    return next(one for one in forms if one.method == "post" and re.fullmatch(pattern, one.action))


def _like(answer: httpx.Response, form: RenderedForm) -> RenderedForm:
    forms = Rendered(answer.text, form.action).forms
    return next(one for one in forms if one.method == "post" and one.action == form.action)


def _to_change(route: str, form: RenderedForm) -> Control:
    """Text before numbers, those before choices and switches."""
    order = ("text", "textarea", "number", "select", "checkbox")
    named = [one for one in fillable(form) if one.name == CHANGED.get(route, one.name) and one.kind in order]
    return min(named, key=lambda one: order.index(one.kind))


def _values(control: Control) -> tuple[str, str]:
    if control.kind == "select":
        first, second = [one for one in control.offered if one != control.untouched][:2]
        return first, second
    return TYPED[control.kind]


def _shown(form: RenderedForm, name: str) -> str | list[str] | None:
    return form.untouched().get(name)


async def _save(browser: Browser, form: RenderedForm, name: str, value: str) -> httpx.Response:
    """Says yes where the page asks about what the change does."""
    answer = await browser.submit(form.action, {**form.untouched(), name: value})
    if answer.status_code == 200:
        return await browser.submit(form.action, _like(answer, form).untouched())
    return answer
