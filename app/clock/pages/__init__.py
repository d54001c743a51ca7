"""The pages of the clock module; ROUTES and MENU are what app.main mounts."""

from litestar.types import ControllerRouterHandler

from app.web.menu import MenuGroup

ROUTES: list[ControllerRouterHandler] = []
MENU: tuple[MenuGroup, ...] = ()
