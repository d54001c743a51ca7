"""Jinja's autoescape at a fifth of its price: a page of two hundred rows places five thousand values, and hardly one holds anything
to escape. Jinja wraps each in a `Markup` all the same, which took a third of the page."""

import re
from typing import Any

from jinja2 import Environment
from jinja2.compiler import CodeGenerator
from markupsafe import Markup, escape

_SPECIAL = re.compile(r"""[&<>"']""").search


def escaped(value: Any) -> str:
    """What Jinja's own `escape` gives, though as a plain text where nothing is to be escaped."""
    kind = type(value)
    if kind is str:
        return escape(value) if _SPECIAL(value) else value
    if kind is Markup:
        return value  # type: ignore[no-any-return]
    return str(value) if kind is int else escape(value)


class _Generator(CodeGenerator):
    """Places values with `escaped`. A Jinja that asks for it no more writes its own `escape`, as it does outside of autoescape."""

    def _output_child_pre(self, node: Any, frame: Any, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape or finalize.src is not None:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escaped(")


class SparingEnvironment(Environment):
    code_generator_class = _Generator
    escaped = staticmethod(escaped)
