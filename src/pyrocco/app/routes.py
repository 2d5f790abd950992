"""What the page may ask for; the only module that imports Starlette."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pyrocco.app.commands import Command, Outcome, RefusedOptionError, inspect_words
from pyrocco.app.fits import REPORT, Fit, Fits, Stage, describe
from pyrocco.app.plain_words import plain
from pyrocco.app.security import (
    ENDINGS,
    Gate,
    RefusedNameError,
    page_headers,
    report_headers,
)
from pyrocco.app.uploads import TooLargeError, Upload, Uploads
from pyrocco.io.errors import MatrixError, MissingExtraError
from pyrocco.io.excel import sheet_names
from pyrocco.io.read import file_format

__all__ = ["Desk", "make_site"]

_STATIC = {
    "app.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "elements.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
}
# These two belong to the report, whose look the page has.
_OF_REPORT = ("elements.js", "page.css")
# The choices on a page are a few names; larger messages are no choices.
_LARGEST_MESSAGE = 1_000_000
_MOST_ROWS = 200  # of new rows that the page shows
_UNREADABLE = (
    "The file could not be read, and no message says why: it may be damaged, or too large for the "
    "memory of this computer."
)
_NOT_PLACED = "The new rows could not be assigned to clusters, and no message says why."


@dataclass(frozen=True)
class Desk:
    """What a server keeps while it runs: files, fits, and how to stop it."""

    folder: Path
    uploads: Uploads
    fits: Fits
    quit: Callable[[], None]


def make_site(gate: Gate, desk: Desk) -> ASGIApp:
    """Return the application that answers the requests which `gate` accepts."""
    pages = Pages(desk)
    base = f"/{gate.secret}"
    routes = [
        Route(f"{base}/", pages.index, methods=["GET"]),
        Route(f"{base}/static/{{name}}", pages.static, methods=["GET"]),
        Route(f"{base}/state", pages.state, methods=["GET"]),
        Route(f"{base}/quit", pages.quit, methods=["POST"]),
        Route(f"{base}/files", pages.upload, methods=["POST"]),
        Route(f"{base}/files/{{file}}/beside", pages.upload_beside, methods=["POST"]),
        Route(f"{base}/files/{{file}}/preview", pages.preview, methods=["POST"]),
        Route(f"{base}/files/{{file}}/leave", pages.leave, methods=["POST"]),
        Route(f"{base}/fits", pages.start, methods=["POST"]),
        Route(f"{base}/fits/{{fit}}", pages.follow, methods=["GET"]),
        Route(f"{base}/fits/{{fit}}/stop", pages.stop, methods=["POST"]),
        Route(f"{base}/fits/{{fit}}/report", pages.report, methods=["GET"]),
        Route(f"{base}/fits/{{fit}}/results/{{name}}", pages.result, methods=["GET"]),
        Route(f"{base}/fits/{{fit}}/predictions", pages.predict, methods=["POST"]),
        Route(f"{base}/fits/{{fit}}/predictions/{{table}}", pages.labels, methods=["GET"]),
    ]
    refusals: Mapping[Any, Callable[[Request, Any], Awaitable[Response]]] = {
        HTTPException: _refuse,
        RefusedNameError: _refuse,
        RefusedOptionError: _refuse,
        TooLargeError: _refuse,
        OSError: _no_room,
    }
    return _Guard(Starlette(routes=routes, exception_handlers=refusals), gate)


class _Guard:
    """Answers 403 to all requests that the gate does not accept, before anything else."""

    def __init__(self, site: ASGIApp, gate: Gate):
        self._site, self._gate = site, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._site(scope, receive, send)
            return
        given = Headers(scope=scope)
        # A second value of a header must not hide behind the first one.
        headers = {name: ", ".join(given.getlist(name)) for name in given}
        is_accepted = scope["type"] == "http" and self._gate.accepts(scope["path"], headers)
        await (self._site if is_accepted else _refused_page())(scope, receive, send)


def _refused_page() -> Response:
    """Return the page for tabs of an earlier run, and for everybody else without the secret."""
    return Response(_asset("refused.html"), 403, media_type="text/html", headers=page_headers())


async def _refuse(request: Request, error: Exception) -> Response:
    """Say in a sentence why a request is refused."""
    code = 413 if isinstance(error, TooLargeError) else 400
    headers = page_headers()
    if isinstance(error, HTTPException):
        code = error.status_code
        headers |= dict(error.headers or {})
    message = error.detail if isinstance(error, HTTPException) else str(error)
    return JSONResponse({"error": message}, code, headers=headers)


async def _no_room(request: Request, error: Any) -> Response:
    """Say that a file could not be stored, such as on a full disk."""
    reason = error.strerror or "the disk may be full"
    message = f"This computer could not do that: {reason}. Make room, and try again."
    return JSONResponse({"error": message}, 507, headers=page_headers())


class Pages:
    """The answers to the requests of the page.

    Parameters
    ----------
    desk : Desk
        What the server keeps.
    """

    def __init__(self, desk: Desk):
        self._desk = desk
        self._previews: dict[str, Command] = {}

    async def index(self, request: Request) -> Response:
        """Return the page."""
        return Response(_asset("index.html"), media_type="text/html", headers=page_headers())

    async def static(self, request: Request) -> Response:
        """Return a part of the page."""
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404, "There is no such file.")
        return Response(_asset(name), media_type=_STATIC[name], headers=page_headers())

    async def state(self, request: Request) -> Response:
        """Say which files are accepted; also tells a page that the server is running."""
        limit = self._desk.uploads.max_bytes
        return _json({"endings": list(ENDINGS), "max_bytes": limit})

    async def quit(self, request: Request) -> Response:
        """Stop the server."""
        self._desk.quit()
        return _json({})

    async def upload(self, request: Request) -> Response:
        """Store a file; the body of the request is its content."""
        name, size = _name_and_size(request)
        try:
            upload = await self._desk.uploads.store(name, size, request.stream())
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        applies = [*file_format(upload.path).options, "transpose"]
        return _json({"id": upload.id, "name": upload.name, "options": applies})

    async def upload_beside(self, request: Request) -> Response:
        """Store the names of rows or columns beside a Matrix Market file."""
        name, size = _name_and_size(request)
        upload = self._file(request.path_params["file"])
        try:
            await self._desk.uploads.store_beside(upload, name, size, request.stream())
        except FileExistsError:
            raise HTTPException(400, f"{name} was given twice.") from None
        except ClientDisconnect:
            return Response(status_code=400)
        return _json({})

    async def preview(self, request: Request) -> Response:
        """Say what is read from a file, with the options that a person chose."""
        upload = self._file(request.path_params["file"])
        options, tables = self._choices(await _message(request))
        words = inspect_words(upload.path, options, tables)
        outcome = await run_in_threadpool(self._inspect, upload, words)
        if outcome.was_stopped:
            return _json({"replaced": True})
        if not outcome.succeeded:
            # The first sheet may hold no table: another one can be chosen.
            sheets = await run_in_threadpool(_sheets_of, upload.path)
            return _json({"error": outcome.message or _UNREADABLE, "sheets": sheets}, 422)
        about = json.loads(outcome.output)
        about["notes"] = [plain(note, self._desk.folder) for note in about["notes"]]
        return _json({**about, "input": upload.name})

    async def leave(self, request: Request) -> Response:
        """Stop the preview of a file that no tab shows any more."""
        preview = self._previews.get(self._file(request.path_params["file"]).id)
        if preview is not None:
            await run_in_threadpool(preview.stop)
        return _json({})

    async def start(self, request: Request) -> Response:
        """Add a fit to the queue."""
        given = await _message(request)
        options, tables = self._choices(given)
        fit = self._desk.fits.add(self._file(given.get("file")), options, tables)
        return self._about(fit)

    async def follow(self, request: Request) -> Response:
        """Say where a fit stands."""
        return self._about(self._fit(request))

    async def stop(self, request: Request) -> Response:
        """Stop a fit."""
        fit = self._fit(request)
        await run_in_threadpool(self._desk.fits.stop, fit)
        return self._about(fit)

    async def report(self, request: Request) -> Response:
        """Return the report of a fit, for a frame of the page."""
        return FileResponse(
            self._result(request, REPORT), media_type="text/html", headers=report_headers()
        )

    async def result(self, request: Request) -> Response:
        """Return a file of the results, to be saved."""
        path = self._result(request, request.path_params["name"])
        return _download(path, f"{self._fit(request).upload.path.stem}-{path.name}")

    async def predict(self, request: Request) -> Response:
        """Assign new rows to the clusters of a fit."""
        fit, given = self._fit(request), await _message(request)
        if fit.stage is not Stage.done:
            raise HTTPException(409, "The fit has no result yet.")
        new = self._file(given.get("file"))
        table, outcome = await run_in_threadpool(self._desk.fits.predict, fit, new)
        if not outcome.succeeded:
            raise HTTPException(422, outcome.message or _NOT_PLACED)
        rows = json.loads(outcome.output)
        n_far = sum(bool(row["far"]) for row in rows)
        return _json({"id": table, "n_rows": len(rows), "n_far": n_far, "rows": rows[:_MOST_ROWS]})

    async def labels(self, request: Request) -> Response:
        """Return the labels of new rows, to be saved."""
        path = self._fit(request).predictions.get(request.path_params["table"])
        if path is None:
            raise HTTPException(404, "There are no such labels.")
        return _download(path, "new-rows-labels.csv")

    def _inspect(self, upload: Upload, words: list[str]) -> Outcome:
        """Run a preview; an earlier one of the same file is not wanted any more."""
        earlier = self._previews.get(upload.id)
        if earlier is not None:
            earlier.stop()
        command = Command(words, self._desk.fits.scratch)
        self._previews[upload.id] = command
        try:
            return self._desk.fits.run_aside(command)
        finally:
            if self._previews.get(upload.id) is command:
                del self._previews[upload.id]

    def _choices(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Path]]:
        options, tables = given.get("options", {}), given.get("tables", [])
        if not isinstance(options, dict) or not isinstance(tables, list):
            raise RefusedOptionError("The options are not as the page sends them.")
        return options, [self._file(table).path for table in tables]

    def _about(self, fit: Fit) -> Response:
        return _json(describe(fit, self._desk.fits.n_before(fit)))

    def _file(self, file_id: object) -> Upload:
        upload = self._desk.uploads.find(file_id)
        if upload is None:
            raise HTTPException(404, "There is no such file: choose it again.")
        return upload

    def _fit(self, request: Request) -> Fit:
        fit = self._desk.fits.find(request.path_params["fit"])
        if fit is None:
            raise HTTPException(404, "There is no such fit.")
        return fit

    def _result(self, request: Request, name: str) -> Path:
        path = self._fit(request).result(name)
        if path is None or not path.is_file():
            raise HTTPException(404, "There is no such result.")
        return path


def _json(content: Mapping[str, Any], code: int = 200) -> Response:
    return JSONResponse(content, code, headers=page_headers())


def _sheets_of(path: Path) -> list[str]:
    """Return the names of the sheets of a file; none if it has none, or cannot be read."""
    try:
        return sheet_names(path) if "sheet" in file_format(path).options else []
    except (MatrixError, MissingExtraError):
        return []


def _download(path: Path, name: str) -> Response:
    return FileResponse(
        path, filename=name, media_type="application/octet-stream", headers=page_headers()
    )


def _name_and_size(request: Request) -> tuple[str, int | None]:
    """Return the name of a file that is sent, and its size if the browser says it."""
    size = request.headers.get("content-length", "")
    return request.query_params.get("name", ""), int(size) if size.isdecimal() else None


async def _message(request: Request) -> dict[str, Any]:
    """Return what the page sends as JSON."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_MESSAGE:
            raise HTTPException(413, "The message is too long.")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise HTTPException(400, "The message is not as the page sends it.")
    return given


def _asset(name: str) -> bytes:
    # Importing the package of the report would take seconds.
    package = files("pyrocco")
    folder = package / "report" / "assets" if name in _OF_REPORT else package / "app" / "static"
    return (folder / name).read_bytes()
