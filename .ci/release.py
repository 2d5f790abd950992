"""Build the packages, check them and CITATION.cff, and run the demo in a new environment.

Publishes nothing. Refuses if the changelog has no dated section of the version; a version that
ends in ``.dev0`` may be rehearsed with the section Unreleased.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def main() -> int:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    problem = changelog_problem(version, (ROOT / "CHANGELOG.md").read_text("utf-8"))
    if problem:
        print(problem)
        return 1
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    packages = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *packages)
    cffconvert = Path(sys.executable).with_name("cffconvert")
    run(cffconvert, "--validate", "--infile", ROOT / "CITATION.cff")
    try_wheel(next(path for path in packages if path.suffix == ".whl"), version)
    print("checked and not published:", *(path.relative_to(ROOT) for path in packages))
    return 0


def changelog_problem(version: str, changelog: str) -> str | None:
    """Say what the changelog lacks for a release of this version; None if nothing."""
    if version.endswith(".dev0"):
        heading = r"^## \[Unreleased\]$"
        wanted = "a section [Unreleased]"
    else:
        heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}$"
        wanted = f"a section [{version}] with its date, such as ## [{version}] - 2026-12-01"
    if re.search(heading, changelog, flags=re.MULTILINE):
        return None
    return f"CHANGELOG.md needs {wanted}, before version {version} can be built."


def try_wheel(wheel: Path, version: str) -> None:
    """Install the wheel into a new environment, and run the demo there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        run(programs / "python", "-m", "pip", "install", "--quiet", wheel)
        shown = run(programs / "pyrocco", "--version", cwd=folder)
        if version not in shown:
            raise SystemExit(f"the wheel says it is {shown.strip()}, not {version}")
        print(run(programs / "pyrocco", "demo", "-o", "demo-output", cwd=folder))
        if not (Path(folder) / "demo-output" / "report.html").is_file():
            raise SystemExit("the demo of the wheel wrote no report")


def run(*command: object, cwd: Path | str = ROOT) -> str:
    """Run a command and return what it prints; end with its output if it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
