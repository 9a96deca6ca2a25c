#!/usr/bin/env python3
"""Checks which folder of the library includes which.

The rules are the table of folders in ARCHITECTURE.md, and kept only there: a line "| `ops/` | core, linalg | ... |"
lets files in tocca/ops/ include what lies in tocca/ops/, tocca/core/ and tocca/linalg/. An entry such as
`evaluate/svm.h` allows one file, `all` allows every folder. Tests (*_test.cpp, and what
they share, test_*.h) and cli/ may include testing/ as well.

    python3 tests/include_order.py [ROOT]

Prints one line for each include that breaks a rule; exit status 1 if there is one.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| `(\w+)/` \| ([^|]*) \|", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".h", ".cpp", ".cu"}
# Third-party headers that one folder wraps for all others.
WRAPPED = {"cblas.h": "linalg", "lapacke.h": "linalg"}


def read_rules(text):
    """{folder: set of folders and files it may include}, from the table in ARCHITECTURE.md."""
    return {folder: {word.strip("` ") for word in allowed.split(",")} - {"", "–"}
            for folder, allowed in ROW.findall(text)}


def fault(rules, folder, is_test, quoted, included):
    """What is wrong with an include in a file of that folder; None if nothing is."""
    if included in WRAPPED and folder != WRAPPED[included]:
        return f"only tocca/{WRAPPED[included]}/ may include <{included}>"
    target = included.split("/")
    if target[0] != "tocca":
        own = folder == "cli" and target[0] == "cli"
        return f'"{included}" is not a path from the root; write <> for other projects' if quoted and not own else None
    allowed = rules[folder] | {folder}
    if is_test or folder == "cli":
        allowed = allowed | {"testing"}
    if "all" in allowed or target[1] in allowed or "/".join(target[1:]) in allowed:
        return None
    return f"{folder}/ may not include {included} (it may: {', '.join(sorted(allowed))})"


def folder_of(path):
    """'ops' for tocca/ops/dense.h, 'cli' for cli/main.cpp."""
    return path.parts[1] if path.parts[0] == "tocca" else path.parts[0]


def check(root):
    """All faults of the tree, as lines of text."""
    rules = read_rules((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    faults = [] if rules else ["ARCHITECTURE.md: no table of folders found"]
    files = [p for top in ("tocca", "cli") for p in sorted((root / top).rglob("*")) if p.suffix in SUFFIXES]
    for file in files:
        path = file.relative_to(root)
        folder = folder_of(path)
        if folder not in rules:
            faults.append(f"{path}: ARCHITECTURE.md's table of folders lacks {folder}/")
            continue
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            is_test = path.stem.endswith("_test") or path.name.startswith("test_")
            what = fault(rules, folder, is_test, match[1] == '"', match[2])
            if what:
                faults.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {what}")
    return faults if files else faults + ["no sources found"]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    faults = check(root.resolve())
    print("\n".join(faults) if faults else "include order: every include follows ARCHITECTURE.md")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
