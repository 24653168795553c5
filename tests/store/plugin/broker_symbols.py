"""Checks the functions that the plugin takes from its broker against those that brokers export.

broker_symbols/VERSION.txt lists what Mosquitto VERSION exports, as Debian builds it; optional.txt
lists functions that the plugin can do without.

    broker_symbols.py NM FOLDER module FILE    each release exports what the plugin FILE takes
    broker_symbols.py NM FOLDER broker FILE    the list of the broker FILE is what it exports
"""

import pathlib
import re
import subprocess
import sys


def symbols(nm, which, file):
    """(kind, name) of the mosquitto_ functions that a file defines or lacks."""
    lines = subprocess.run([nm, "-D", which, file], check=True, capture_output=True, text=True)
    found = (line.split()[-2:] for line in lines.stdout.splitlines())
    return {(kind, name) for kind, name in found if name.startswith("mosquitto_")}


def names(path):
    return set(path.read_text().split())


def check_module(nm, folder, module):
    optional = names(folder / "optional.txt")
    taken = symbols(nm, "--undefined-only", module)
    if not taken:
        return [f"{module} takes nothing from a broker"]
    faults = []
    for path in sorted(folder.glob("[0-9]*.txt")):
        exported = names(path)
        for kind, name in sorted(taken):
            if name not in exported and not (kind == "w" and name in optional):
                faults.append(f"Mosquitto {path.stem} does not export {name}")
    return faults


def check_broker(nm, folder, broker):
    said = subprocess.run([broker, "-h"], check=False, capture_output=True, text=True).stdout
    version = re.search(r"version (\S+)", said)[1]
    path = folder / f"{version}.txt"
    if not path.exists():
        print(f"there is no list of Mosquitto {version}, which is installed here")
        return []
    exported = {name for _, name in symbols(nm, "--defined-only", broker)}
    return [f"Mosquitto {version}: {name} is not in both, the list and the broker"
            for name in sorted(exported ^ names(path))]


def main():
    nm, folder, what, file = sys.argv[1:]
    check = {"module": check_module, "broker": check_broker}[what]
    faults = check(nm, pathlib.Path(folder), file)
    print("\n".join(faults) or "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
