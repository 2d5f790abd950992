"""Requests that the page refuses, and how; docs/app.md has the table."""

import socket
import time
from contextlib import suppress

import pytest

from pyrocco.app.security import Gate, RefusedNameError, stored_name

from .conftest import LIMIT, PORT, FakeCommand

ROOT = f"http://127.0.0.1:{PORT}"


def hostile_requests(secret, file_id, fit_id):
    """Method, path, headers, body and expected status of requests that must be refused."""
    page = f"/{secret}/"
    csv = b"a,b\n1,2\n"
    return {
        "no secret": ("GET", "/", {}, None, 403),
        "no secret, existing path": ("GET", "/state", {}, None, 403),
        "wrong secret": ("GET", "/wrong/state", {}, None, 403),
        "start of the secret": ("GET", f"/{secret[:-1]}/state", {}, None, 403),
        "secret that is not ASCII": ("GET", "/%C3%A4%FF/state", {}, None, 403),
        "secret in the query": ("GET", f"/state?secret={secret}", {}, None, 403),
        "secret of an upload": ("POST", "/wrong/files?name=a.csv", {}, csv, 403),
        "foreign host": ("GET", f"{page}state", {"host": "evil.example"}, None, 403),
        "foreign host, our port": ("GET", page, {"host": f"evil.example:{PORT}"}, None, 403),
        "other port": ("GET", page, {"host": f"127.0.0.1:{PORT + 1}"}, None, 403),
        "another name": ("GET", page, {"host": f"localhost:{PORT}"}, None, 403),
        "no host": ("GET", page, {"host": ""}, None, 403),
        "foreign origin": ("POST", f"{page}quit", {"origin": "https://evil.example"}, b"", 403),
        "foreign origin, GET": ("GET", page, {"origin": "https://evil.example"}, None, 403),
        "origin null": ("POST", f"{page}quit", {"origin": "null"}, b"", 403),
        "https origin": ("POST", f"{page}quit", {"origin": f"https://127.0.0.1:{PORT}"}, b"", 403),
        "origin without port": ("POST", f"{page}quit", {"origin": "http://localhost"}, b"", 403),
        "from another site": ("POST", f"{page}quit", {"sec-fetch-site": "cross-site"}, b"", 403),
        "from another port": ("GET", page, {"sec-fetch-site": "same-site"}, None, 403),
        "two origins": ("GET", page, {"origin": f"{ROOT}, https://evil.example"}, None, 403),
        "name with a path": ("POST", f"{page}files?name=../../a.csv", {}, csv, 400),
        "name with a coded path": ("POST", f"{page}files?name=..%2F..%2Fa.csv", {}, csv, 400),
        "name with a Windows path": ("POST", f"{page}files?name=..%5Ca.csv", {}, csv, 400),
        "absolute name": ("POST", f"{page}files?name=/etc/a.csv", {}, csv, 400),
        "name of a Windows drive": ("POST", f"{page}files?name=C:%5Ca.csv", {}, csv, 400),
        "NUL in a name": ("POST", f"{page}files?name=a%00.csv", {}, csv, 400),
        "line break in a name": ("POST", f"{page}files?name=a%0A.csv", {}, csv, 400),
        "only dots": ("POST", f"{page}files?name=..", {}, csv, 400),
        "hidden file": ("POST", f"{page}files?name=.pyrocco-lock.csv", {}, csv, 400),
        "no name": ("POST", f"{page}files", {}, csv, 400),
        "name of a device": ("POST", f"{page}files?name=NUL.csv", {}, csv, 400),
        "very long name": ("POST", f"{page}files?name={'a' * 300}.csv", {}, csv, 400),
        "unknown ending": ("POST", f"{page}files?name=a.exe", {}, csv, 400),
        "Python file": ("POST", f"{page}files?name=numpy.py", {}, csv, 400),
        "model file": ("POST", f"{page}files?name=model.pyrocco", {}, csv, 400),
        "too large": ("POST", f"{page}files?name=a.csv", {}, b"1" * (LIMIT + 1), 413),
        "path beside a file": (
            "POST", f"{page}files/{file_id}/beside?name=../x.tsv", {}, csv, 400,
        ),
        "other file beside a file": (
            "POST", f"{page}files/{file_id}/beside?name=a.csv", {}, csv, 400,
        ),
        "unknown file": ("POST", f"{page}files/0123/preview", {}, b"{}", 404),
        "path as a file": ("POST", f"{page}files/%2E%2E/preview", {}, b"{}", 404),
        "unknown fit": ("GET", f"{page}fits/0123", {}, None, 404),
        "path as a fit": ("GET", f"{page}fits/%2E%2E%2F%2E%2E/report", {}, None, 404),
        "results of a running fit": (
            "GET", f"{page}fits/{fit_id}/results/row_labels.csv", {}, None, 404,
        ),
        "path in results": (
            "GET", f"{page}fits/{fit_id}/results/..%2F..%2Ffiles", {}, None, 404,
        ),
        "path among static files": ("GET", f"{page}static/..%2Froutes.py", {}, None, 404),
        "absolute static file": ("GET", f"{page}static/%2Fetc%2Fpasswd", {}, None, 404),
        "unknown address": ("GET", f"{page}admin", {}, None, 404),
        "GET of an action": ("GET", f"{page}quit", {}, None, 405),
        "PUT of a file": ("PUT", f"{page}files", {}, csv, 405),
        "DELETE of a fit": ("DELETE", f"{page}fits/{fit_id}", {}, None, 405),
        "fit of an unknown file": ("POST", f"{page}fits", {}, b'{"file": "x"}', 404),
        "fit of a path": ("POST", f"{page}fits", {}, b'{"file": "/etc/passwd"}', 404),
        "fit of no file": ("POST", f"{page}fits", {}, b'{"file": ["a"]}', 404),
        "not JSON": ("POST", f"{page}fits", {}, b"file=a", 400),
        "JSON of another kind": ("POST", f"{page}fits", {}, b"[]", 400),
        "very deep JSON": ("POST", f"{page}fits", {}, b"[" * 100_000, 400),
        "huge message": ("POST", f"{page}fits", {}, b" " * 1_000_001, 413),
    }  # fmt: skip


def hostile_options(file_id):
    """Options that no page sends."""
    return {
        "output folder": {"output": "/tmp/x"},
        "option that does not exist": {"evil": "1"},
        "option as a flag": {"transpose": "yes --output=/tmp/x"},
        "flag as an option": {"sheet": True},
        "memory": {"memory_limit": "1B"},
        "cluster": {"cluster": "tcp://evil.example:1"},
        "file of annotations": {"annotate_from": ["/etc/passwd"]},
        "NUL": {"sheet": "a\0b"},
        "long text": {"ignore": "a" * 20_000},
        "nested": {"ignore": {"a": 1}},
        "list of numbers": {"annotate": [[1]]},
    }


NAMES = list(hostile_requests("s", "f", "g"))


@pytest.mark.parametrize("name", NAMES)
def test_hostile_requests_are_refused(page, name):
    file_id = page.add()
    fit_id = page.post("fits", json={"file": file_id}).json()["id"]
    before = sorted(page.desk.folder.rglob("*"))
    requests = hostile_requests(page.gate.secret, file_id, fit_id)
    method, path, headers, body, status = requests[name]
    answer = page.client.request(method, path, headers=headers, content=body)
    assert answer.status_code == status
    assert page.gate.secret not in answer.text
    assert str(page.desk.folder) not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert sorted(page.desk.folder.rglob("*")) == before
    assert page.quits == []


@pytest.mark.parametrize("name", hostile_options(""))
def test_hostile_options_are_refused(page, name):
    file_id = page.add()
    options = hostile_options(file_id)[name]
    for path, message in (
        (f"files/{file_id}/preview", {"options": options}),
        ("fits", {"file": file_id, "options": options}),
    ):
        answer = page.post(path, json=message)
        assert answer.status_code == 400, path
        assert "option" in answer.json()["error"]


def test_a_chosen_text_is_never_an_option_of_the_command(page):
    page.post("fits", json={"file": page.add(), "options": {"ignore": "--output=/tmp/x"}})
    while not FakeCommand.started:
        pass
    assert "--ignore=--output=/tmp/x" in FakeCommand.started[0].words


def test_our_own_requests_are_answered(page):
    for headers in (
        {},
        {"origin": ROOT, "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ):
        assert page.get("", headers=headers).status_code == 200


def test_a_tab_of_an_earlier_run_gets_a_plain_page(page):
    answer = page.client.request("GET", f"/{Gate(PORT).secret}/")
    assert answer.status_code == 403
    assert "Use the tab that the running app opened" in answer.text


def test_every_answer_forbids_other_sites(page):
    fine = page.get("").headers
    assert fine["cache-control"] == "no-store"
    assert fine["x-content-type-options"] == "nosniff"
    policy = fine["content-security-policy"]
    for word in ("unsafe", "http:", "https:", "*"):
        assert word not in policy
    assert "frame-ancestors 'none'" in policy
    assert "set-cookie" not in fine


@pytest.mark.parametrize("name", ["a.csv", "Zähler 1.xlsx", "x.CSV.GZ", "a-b_(c)+d.h5ad"])
def test_ordinary_names_stay(name):
    assert stored_name(name) == name


def test_letters_with_a_meaning_are_replaced():
    assert stored_name("day*[1]?.csv") == "day__1__.csv"  # would be a pattern of files
    assert stored_name("a:b|c<d>.csv") == "a_b_c_d_.csv"
    assert stored_name("$(rm).csv") == "_(rm).csv"


@pytest.mark.parametrize("name", ["\u202ecsv.exe", "a.csv/", "a.csv\0", "con.csv", "a.csv.", " "])
def test_odd_names_are_refused_or_harmless(name):
    try:
        stored = stored_name(name)
    except RefusedNameError:
        return
    assert stored.endswith(".csv")
    assert not set(stored) & set("/\\\0\u202e")


def test_secrets_are_long_and_differ():
    secrets = {Gate(PORT).secret for _ in range(50)}
    assert len(secrets) == 50
    assert min(map(len, secrets)) >= 32
    assert next(iter(secrets)) not in repr(Gate(PORT))


def raw_requests(secret, host):
    """Requests that are not HTTP as browsers speak it, as lines, and the expected status."""
    state, upload = f"GET /{secret}/state HTTP/1.1", f"POST /{secret}/files?name=a.csv HTTP/1.1"
    ours, foreign = f"Host: {host}", "Host: evil.example"
    return {
        "fine": ([state, ours], 200),
        "header of 200 kB": ([state, ours, f"X: {'a' * 200_000}"], 400),
        "20,000 headers": ([state, ours, *(f"X{i}: {i}" for i in range(20_000))], 400),
        "address of 200 kB": ([f"GET /{secret}/{'a' * 200_000} HTTP/1.1", ours], 400),
        "two hosts": ([state, ours, foreign], 400),
        "two origins": (
            [state, ours, f"Origin: http://{host}", "Origin: http://evil.example"],
            403,
        ),
        "old HTTP without a host": ([f"GET /{secret}/state HTTP/1.0"], 403),
        "address of another site": (
            [f"GET http://evil.example/{secret}/state HTTP/1.1", ours],
            403,
        ),
        "path through another folder": ([f"GET /x/../{secret}/state HTTP/1.1", ours], 403),
        "negative length": ([upload, ours, "Content-Length: -1"], 400),
        "endless length": ([upload, ours, f"Content-Length: {10**20 - 1}"], 413),
        "not HTTP": (["\x16\x03\x01\x02"], 400),
    }


def status_of(port, lines):
    """Send lines to the server; return the status of its answer."""
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        # A server that has seen enough answers and closes, before all is sent.
        with suppress(ConnectionError):
            connection.sendall(
                "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")
            )
        return int(connection.recv(1000).split()[1])


def test_slow_requests_keep_nobody_waiting_and_leave_nothing(server):
    _, _, host, secret, _ = server.address.split("/")
    upload = (
        f"POST /{secret}/files?name=a.csv HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\na"
    )
    slow = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(200)]
    try:
        for connection in slow:
            connection.sendall(upload.encode())
        assert status_of(server.port, [f"GET /{secret}/state HTTP/1.1", f"Host: {host}"]) == 200
    finally:
        for connection in slow:
            connection.close()
    (files,) = server.folder.glob("pyrocco-app-*/files")
    limit = time.monotonic() + 20
    while any(files.iterdir()):
        assert time.monotonic() < limit
        time.sleep(0.1)


def test_malformed_requests_are_refused_by_the_server(server):
    _, _, host, secret, _ = server.address.split("/")
    before = sorted(server.folder.rglob("*"))
    for name, (lines, status) in raw_requests(secret, host).items():
        assert status_of(server.port, lines) == status, name
    assert sorted(server.folder.rglob("*")) == before
