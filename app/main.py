"""The composition root and the site map: which routers there are, and what surrounds every request."""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.types import ControllerRouterHandler

from app import wiring
from app.api.methods import GuardsFirst
from app.config import read_settings
from app.host import zone
from app.host.pages import views
from app.host.pages.admin import sign_in
from app.host.pages.metrics import Measured, noting_connections
from app.parts import Parts, web_parts
from app.registry import list_rights, modules
from app.web import csrf, preferences
from app.web import help as manual
from app.web.context import provide_context
from app.web.errors.answers import handle
from app.web.gate import Gate
from app.web.menu import in_order
from app.web.notices.worker_watch import WorkerWatch
from app.web.transport.assets import static_file
from app.web.transport.body import LARGEST
from app.web.transport.streams import Watch


def create_app(parts: Parts) -> Gate:
    return open_site(build_site(), parts)


def build_site() -> Litestar:
    """Every route, before there is a database behind it: building it takes most of a start, and one serves many."""
    wiring.connect()
    wiring.connect_pages()
    sites = [module.site() for module in modules()]
    manual.pages()  # once, before the first reader waits for it; a page that is missing is missed here
    pages = [page for site in sites for page in site.pages]
    _open_lists_with_views(pages)
    browser = Router(path="/", route_handlers=[*pages, *preferences.ROUTES], before_request=csrf.check)
    return Litestar(
        route_handlers=[browser, *(api for site in sites for api in site.apis), static_file],
        dependencies={"ctx": Provide(provide_context)},
        exception_handlers={Exception: handle},
        middleware=[Measured],
        lifespan=[_closing],
        state=State(
            {
                "menu": in_order(group for site in sites for group in site.menu),
                "zone_of": zone.name,
                "sign_in_page": sign_in.with_what_was_written,
            }
        ),
        request_max_body_size=LARGEST,
        openapi_config=None,
        logging_config=None,
    )


def open_site(site: Litestar, parts: Parts) -> Gate:
    """The portal over `parts`, which end with it. A site has one set of parts at a time."""
    site.state.parts = parts
    site.state.watch = Watch(parts.database)
    site.state.workers = WorkerWatch()
    return Gate(GuardsFirst(site), parts)


def _open_lists_with_views(pages: Iterable[ControllerRouterHandler]) -> None:
    """Only the pages of lists ask which view a person chose to open them with;
    all other requests take the shorter way."""
    addresses = {rights.url for rights in list_rights().values()}
    for handler in pages:
        if isinstance(handler, HTTPRouteHandler) and "GET" in handler.http_methods and handler.paths & addresses:
            handler.before_request = views.before_list


@asynccontextmanager
async def _closing(site: Litestar) -> AsyncIterator[None]:
    async with noting_connections(site.state.parts.database):
        yield
    await site.state.parts.close()


def application() -> Gate:
    """What uvicorn's workers call: parts from the environment that `muster serve` prepared."""
    settings = read_settings(os.environ)
    if settings.database_url is None:
        raise RuntimeError("MUSTER_DATABASE_URL is not set; start the portal with `muster serve`")
    return create_app(web_parts(settings, settings.database_url))
