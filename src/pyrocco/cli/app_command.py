"""``pyrocco app``: the page for people without a terminal."""

from __future__ import annotations

import threading
import webbrowser

import typer

from pyrocco.cli.terminal import tell
from pyrocco.fitting.memory_plan import parse_bytes
from pyrocco.io.errors import check_extra

__all__ = ["serve_app"]


def serve_app(port: int, browser: bool, max_size: str) -> None:
    """Serve the page until it is closed, and open it in the browser."""
    max_bytes = _size(max_size)
    for package in ("starlette", "uvicorn"):
        check_extra("app", "The pages of pyrocco app", package)
    from pyrocco.app.server import AppServer  # noqa: PLC0415 - an optional package

    with AppServer(port, max_bytes) as server:
        tell(f"The page is {server.address}")
        tell(
            "To stop, choose Quit on the page or press Ctrl-C here. Nothing leaves this computer."
        )
        if browser:
            # Some browsers return only when they are closed.
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        server.run()
    tell("Stopped. The files of the page were removed.")


def _size(text: str) -> int:
    try:
        size = parse_bytes(text)
    except ValueError:
        size = 0
    if not size:
        raise typer.BadParameter(
            f"write a size such as 500MB or 2GB, not '{text}'", param_hint="--max-size"
        )
    return size
