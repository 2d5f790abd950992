"""A page without a network, whose commands are under control, and a real server."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar

import httpx
import pytest

from pyrocco.app import fits as fits_module
from pyrocco.app.commands import Outcome
from pyrocco.app.fits import Fits
from pyrocco.app.routes import Desk, make_site
from pyrocco.app.security import Gate
from pyrocco.app.uploads import Uploads

PORT = 8421
LIMIT = 2000


class FakeCommand:
    """A command that runs until it is told to end or to stop."""

    started: ClassVar = []

    def __init__(self, words, folder):
        self.words, self.folder = words, folder
        self.outcome = Outcome(0, "", "")
        self.ended = threading.Event()
        FakeCommand.started.append(self)

    def run(self, watch=None):
        if watch is not None:
            watch({"stage": "clusters", "fraction": 0.5, "left": 3.0, "step": 0, "steps": 0})
        assert self.ended.wait(20)
        return self.outcome

    def end(self, **summary):
        """End with a result."""
        output = next(word for word in self.words if word.startswith("--output="))
        folder = fits_module.Path(output.removeprefix("--output="))
        folder.mkdir()
        facts = {"files": ["summary.json", "row_labels.csv", "report.html"], **summary}
        for name in facts["files"]:
            (folder / name).write_text(f"content of {name}")
        (folder / "summary.json").write_text(json.dumps(facts))
        self.ended.set()

    def stop(self):
        self.outcome = Outcome(130, "", "stopped", was_stopped=True)
        self.ended.set()


class Client:
    """Sends each request to an application without a network."""

    def __init__(self, site, base_url):
        self.site, self.base_url = site, base_url

    def request(self, method, path, **options):
        # Not in this thread, whose event loop may be that of a browser.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._send(method, path, options)).result()

    async def _send(self, method, path, options):
        transport = httpx.ASGITransport(self.site)
        async with httpx.AsyncClient(transport=transport, base_url=self.base_url) as client:
            return await client.request(method, path, **options)


@dataclass
class Page:
    """A page, and what is behind it."""

    gate: Gate
    client: Client
    desk: Desk
    quits: list = field(default_factory=list)

    def path(self, path):
        return f"/{self.gate.secret}/{path}"

    def get(self, path, **options):
        return self.client.request("GET", self.path(path), **options)

    def post(self, path, **options):
        return self.client.request("POST", self.path(path), **options)

    def add(self, name="a.csv", content=b"gene,x,y\na,1,2\nb,3,5\n"):
        """Upload a file, and return its id."""
        return self.post("files", params={"name": name}, content=content).json()["id"]


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(fits_module, "Command", FakeCommand)
    monkeypatch.setattr(FakeCommand, "started", [])
    gate, quits = Gate(PORT), []
    fits = Fits(tmp_path / "fits", tmp_path / "scratch")
    uploads = Uploads(tmp_path / "files", LIMIT)
    desk = Desk(tmp_path, uploads, fits, lambda: quits.append(True))
    client = Client(make_site(gate, desk), f"http://127.0.0.1:{PORT}")
    yield Page(gate, client, desk, quits)
    fits.close()


class Server:
    """``pyrocco app`` in a process of its own."""

    def __init__(self, folder, *options):
        self.folder = folder
        words = ["app", "--no-browser", *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pyrocco", *words],
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(folder)},
            text=True,
        )
        line = self.process.stdout.readline()
        self.address = re.search(r"http://127\.0\.0\.1:\d+/\S+/", line)[0]
        self.port = int(self.address.split(":")[2].split("/")[0])

    def stop(self, by=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(by)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code

    @property
    def folders(self):
        """Temporary folders of servers."""
        return list(self.folder.glob("pyrocco-*"))


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.stop()
