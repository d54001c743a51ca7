"""The pages of webhooks; ROUTES is what the host's pages mount."""

from litestar.types import ControllerRouterHandler

from app.host.pages.webhooks import forms, log, pages, secrets

ROUTES: list[ControllerRouterHandler] = [*pages.ROUTES, *forms.ROUTES, *log.ROUTES, *secrets.ROUTES]
