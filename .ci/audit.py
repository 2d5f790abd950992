"""Look up the installed packages in the database of known vulnerabilities, by pip-audit.

Exits with 1 if a package has a known vulnerability. Where the database cannot be reached, says so
and exits with 0.
"""

import json
import subprocess
import sys


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", "--skip-editable", "--format", "json"]
    command += ["--progress-spinner", "off", "--timeout", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = done.stderr.strip().splitlines()[-1:]
        print("audit skipped: the database of vulnerabilities cannot be reached", *last, sep=": ")
        return 0
    looked_up = [package for package in packages if "vulns" in package]
    if not looked_up:
        print(f"audit skipped: the database has none of the {len(packages)} packages")
        return 0
    affected = [package for package in looked_up if package["vulns"]]
    for package in affected:
        names = ", ".join(vulnerability["id"] for vulnerability in package["vulns"])
        print(f"{package['name']} {package['version']}: {names}")
    print(f"audit: {len(looked_up)} of {len(packages)} packages, {len(affected)} vulnerable")
    return 1 if affected else 0


if __name__ == "__main__":
    sys.exit(main())
