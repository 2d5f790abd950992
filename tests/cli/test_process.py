"""The command line as a real process: closed streams, odd environments, hostile names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from sklearn.datasets import make_biclusters

from pyrocco.cli import main
from pyrocco.cli.dask_cluster import start_cluster
from pyrocco.cli.terminal import printable

SCRIPT = Path(sys.executable).parent / "pyrocco"
FIT = [SCRIPT, "fit", "a.csv", "-o", "out", "--no-report"]
FILES = {"row_labels.csv", "column_labels.csv", "block_means.csv", "summary.json"}
FILES |= {"explanation.csv", "heatmap.png", "model.pyrocco"}


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    X, _, _ = make_biclusters((30, 20), 2, noise=2, random_state=0)
    pd.DataFrame(X, index=[f"r{i}" for i in range(30)]).to_csv(tmp_path / "a.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(line, **variables):
    """Run a line in a shell with $PYROCCO; return the exit code and both streams."""
    environment = {**os.environ, "PYROCCO": str(SCRIPT), **variables}
    command = ["bash", "-c", line]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("streams", ["2>&-", ">&- 2>&- <&-", "2> >(true)", "> /dev/full"])
def test_a_fit_is_finished_whatever_the_streams(work, streams):
    code, _, _ = shell(f"$PYROCCO fit a.csv -o out --no-report {streams}")
    assert code == 0
    assert {path.name for path in (work / "out").iterdir()} == FILES


def test_output_that_cannot_be_printed_is_an_error():
    assert main(["fit", "a.csv", "-o", "out", "--no-report", "-q"]) == 0
    predict = "$PYROCCO predict out a.csv -q"
    closed = "pyrocco: standard output is closed: write the result to a file\n"
    assert shell(f"{predict} >&-")[::2] == (2, closed)
    full = "pyrocco: standard output cannot be written: No space left on device\n"
    assert shell(f"{predict} > /dev/full")[::2] == (2, full)
    # A reader that has seen enough is no error.
    code, out, err = shell(f"set -o pipefail; {predict} | head -1")
    assert (code, out, err) == (0, "name,label,membership,distance,far\n", "")


def test_a_bare_environment(work):
    """No HOME, the C locale, a terminal of twenty columns, and optimised bytecode."""
    variables = {"PATH": os.environ["PATH"], "LC_ALL": "C", "COLUMNS": "20"}
    start = "import sys; from pyrocco.cli import main; sys.exit(main())"
    command = [sys.executable, "-OO", "-c", start, *FIT[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert done.returncode == 0
    assert "Found 2 clusters of rows and 2 clusters of columns." in done.stdout
    assert "matplotlib" not in done.stderr
    assert {path.name for path in (work / "out").iterdir()} == FILES


# In a mount namespace of its own, everything but the folder of the results is read-only.
READ_ONLY = """
set -e
mount --make-rprivate /
mount --rbind / {root}
mount -o remount,bind,ro {root}
mount -t tmpfs -o ro none {root}/dev/shm
mount -t tmpfs none {root}{writable}
chroot {root} env -i bash -c 'cd / && ! touch /tmp/x /var/tmp/x {work}/x 2> /dev/null &&
{script} fit {work}/a.csv -o {writable}/out && ls -A {writable}/out'
"""


def test_only_the_folder_of_the_results_can_be_written_to(work):
    (work / "root").mkdir()
    (work / "writable").mkdir()
    script = READ_ONLY.format(
        root=work / "root", work=work, writable=work / "writable", script=SCRIPT
    )
    can_mount = shutil.which("unshare") and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", work / "root"],
        check=False,
        capture_output=True,
    )
    if not can_mount or can_mount.returncode:
        pytest.skip("this user may not mount file systems")
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()[-8:]) == FILES | {"report.html"}
    assert "Traceback" not in done.stderr


def test_control_characters_do_not_reach_the_terminal(work, capsys):
    evil = "\x1b]0;owned\x07\x1b[31m"
    table = pd.read_csv("a.csv", index_col=0)
    table.index = [f"{evil}{name}" for name in table.index]
    table.columns = [f"{evil}{name}" for name in table.columns]
    table.to_csv(f"{evil}.csv")
    fit = ["fit", f"{evil}.csv", "-o", f"{evil}out", "--no-report"]
    assert main(fit) == 0
    assert main(["inspect", f"{evil}.csv"]) == 0
    assert main(["predict", f"{evil}out", f"{evil}.csv"]) == 0
    assert main(["fit", f"{evil}none.csv", "-o", "x"]) == 2
    table = table.astype(object)
    table.iloc[2, 3] = "oops"
    table.to_csv("text.csv")
    assert main(["fit", "text.csv", "-o", "x"]) == 2
    out, err = capsys.readouterr()
    assert "\\x1b]0;owned" in out
    assert "\\x1b]0;owned" in err
    assert not set(out + err) & {chr(code) for code in (*range(10), *range(11, 32), 127)}


def test_printable():
    assert printable("a\tb é 漢") == "a\tb é 漢"
    assert printable("\x1b[0m\x9b\u202e\udc80") == r"\x1b[0m\x9b\u202e\udc80"


def test_messages_without_nan_and_powers(work, capsys):
    (work / "none.csv").write_text("a,b\nNA,NA\nNA,NA\n")
    for command in (["inspect", "none.csv"], ["fit", "none.csv", "-o", "x"]):
        assert main(command) == 2
        assert "all 4 cells are missing values" in capsys.readouterr().err
    X = np.full((40, 30), np.nan)
    X[0] = X[:, 0] = 1.5
    np.save("x.npy", X)
    assert main(["inspect", "x.npy"]) == 0
    out = capsys.readouterr().out
    assert "1,131 of its 1,200 cells are missing (94 %)." in out
    X[2:, :] = X[:, 2:] = np.nan
    np.save("x.npy", X)
    main(["inspect", "x.npy"])
    out = capsys.readouterr().out
    assert "1,197 of its 1,200 cells are missing (99.75 %)." in out
    assert "nan" not in out
    assert "e+0" not in out


def test_an_unexpected_error_is_one_line(capsys, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("pyrocco.cli.inspect_command.gather_facts", fail)
    assert main(["inspect", "a.csv"]) == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "unexpected error (ZeroDivisionError: of all things)" in err
    monkeypatch.setenv("PYROCCO_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["inspect", "a.csv"])


@pytest.mark.slow
def test_nobody_else_can_connect_to_a_local_cluster():
    with start_cluster("local:1", None):
        this = psutil.Process()
        processes = [this, *this.children(recursive=True)]
        listening = [
            connection.laddr.ip
            for process in processes
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        ]
    assert len(listening) >= 3  # scheduler, dashboard and worker
    assert set(listening) == {"127.0.0.1"}
