"""``pyrocco app`` before a server runs; tests/app has the server."""

import socket
import sys

import pytest

from pyrocco.app.server import AppServer
from pyrocco.cli import app_command, main
from pyrocco.cli.app_command import serve_app


def test_a_port_in_use_is_said(capsys, tmp_path, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["app", "--no-browser", "--port", str(port)]) == 2
    assert f"port {port} of this computer cannot be used" in capsys.readouterr().err


def test_a_missing_extra_is_said(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setattr("pyrocco.io.errors.find_spec", lambda _: None)
    assert main(["app", "--no-browser"]) == 2
    assert 'pip install "pyrocco[app]"' in capsys.readouterr().err


@pytest.mark.parametrize("size", ["many", "0", "-1MB"])
def test_a_size_that_is_none(capsys, size):
    assert main(["app", "--no-browser", f"--max-size={size}"]) == 2
    assert "write a size such as 500MB or 2GB" in capsys.readouterr().err


def test_the_browser_opens_the_address(capsys, monkeypatch):
    opened, servers = [], []

    def run(server):
        servers.append(server)

    monkeypatch.setattr(app_command.webbrowser, "open", opened.append)
    monkeypatch.setattr(AppServer, "run", run)
    serve_app(0, True, "1MB")
    assert opened == [servers[0].address]
    assert servers[0].address in capsys.readouterr().out
    assert not servers[0].folder.exists()
