"""The host's pages; ROUTES and MENU are what app.main mounts."""

from litestar.types import ControllerRouterHandler

from app.host.pages import home, sign_in
from app.web.menu import MenuGroup

ROUTES: list[ControllerRouterHandler] = [*home.ROUTES, *sign_in.ROUTES]
MENU: tuple[MenuGroup, ...] = ()
