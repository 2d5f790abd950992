"""The server of the page, on this computer only; the only module that imports uvicorn."""

from __future__ import annotations

import signal
import socket
import sys
from pathlib import Path
from types import FrameType, TracebackType

import uvicorn

from pyrocco.app.fits import Fits
from pyrocco.app.routes import Desk, make_site
from pyrocco.app.security import Gate
from pyrocco.app.uploads import Uploads
from pyrocco.io.errors import OutputError
from pyrocco.io.unfinished import ScratchFolder

__all__ = ["AppServer"]

_HOST = "127.0.0.1"
# Seconds that answers under way may take when the server stops.
_PATIENCE = 2
# How systems end a program; Windows has not all of them.
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


class AppServer:
    """Serves the page from a temporary folder, which is removed at the end.

    Parameters
    ----------
    port : int
        Port of 127.0.0.1; 0 for any free one.
    max_bytes : int
        The largest file that is accepted.

    Examples
    --------
    >>> with AppServer(0, 10**6) as server:
    ...     print(server.address[:17])
    http://127.0.0.1:
    >>> server.folder.exists()
    False
    """

    def __init__(self, port: int, max_bytes: int):
        self._socket = _listen(port)
        self._gate = Gate(self._socket.getsockname()[1])
        self._scratch = ScratchFolder(prefix="pyrocco-app-")
        self.folder = self._scratch.path
        self._fits = Fits(self.folder / "fits", _new(self.folder / "scratch"))
        uploads = Uploads(self.folder / "files", max_bytes)
        desk = Desk(self.folder, uploads, self._fits, self.stop)
        self._server = uvicorn.Server(
            uvicorn.Config(
                make_site(self._gate, desk),
                # The other parser of uvicorn, which may be installed, has no limit for headers.
                http="h11",
                log_level="critical",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_PATIENCE,
                ws="none",
            )
        )

    @property
    def address(self) -> str:
        """The address of the page, with the secret."""
        return self._gate.address

    def run(self) -> None:
        """Answer requests until the server is told to stop."""
        before = {}
        for name in _SIGNALS:
            if hasattr(signal, name):
                number = getattr(signal, name)
                before[number] = signal.signal(number, self._stop_on_signal)
        try:
            self._server.run(sockets=[self._socket])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Let the server end."""
        self._server.should_exit = True

    def _stop_on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop()

    def __enter__(self) -> AppServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()
        self._fits.close()
        self._scratch.remove()


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # where it would let other programs take over the port
        # The port of a server that has just ended can be used again at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
    except OSError as error:
        listener.close()
        raise OutputError(
            f"port {port} of this computer cannot be used ({error.strerror}): choose another one "
            "with --port, or leave --port out"
        ) from error
    listener.listen()
    return listener


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder
