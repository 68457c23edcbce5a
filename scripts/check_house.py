#!/usr/bin/env python3
"""Holds the source tree to the rules of ARCHITECTURE.md: which folder may include which, who may see JSON, CUDA or the
reference's arithmetic, and how long files may grow. Prints each breach as file:line and exits 1 if there is one."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# folder -> folders it may include (itself and base always).
ARROWS = {
    "base": set(),
    "numeric": set(),
    "tensor": {"numeric"},
    "checkpoint": {"tensor", "numeric"},
    "kernels": {"tensor", "numeric"},
    "moe": {"kernels", "tensor", "numeric"},
    "cache": set(),
    "constraint": set(),
    "parallel": {"tensor"},
    "model": {"moe", "kernels", "checkpoint", "cache", "tensor", "numeric"},
    "engine": {"model", "cache", "parallel", "constraint", "kernels", "checkpoint", "tensor", "moe"},
    "text": set(),
    "serve": {"text", "engine"},
    "cli": {"serve", "text", "engine", "model", "checkpoint", "kernels", "tensor"},
}
# Pure state machines: no kernel, no model, no device.
PURE = re.compile(r"^(cache/|engine/scheduler)")
MAX_LINES = 600
MAX_FORWARD_LINES = 150
MAX_LOOP_LINES = 40
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def check_include(name, own, quoted, header):
    """Why `header` must not be included by the file `name` of folder `own`, or None."""
    first = header.split("/")[0]
    is_test = name.endswith("_test.cc") or "/testing/" in name
    if quoted and first in ARROWS and first not in ({own, "base"} | ARROWS[own]) and not is_test:
        return f"{own}/ may not include {first}/"
    if PURE.match(name) and not is_test and (first in {"kernels", "model", "tensor", "checkpoint"} or "cuda" in header):
        return "a pure state machine includes no kernel and no device"
    if header.startswith("boost/json") and own not in {"serve", "cli"} and name not in {
            "model/config.h", "model/config.cc", "model/golden.cc", "engine/generation_config.cc"}:
        return "JSON stays in serve/ and in the readers of model files"
    if re.match(r"cuda|cublas|nccl", header) and own not in {"kernels", "tensor", "parallel"}:
        return "CUDA types stay in kernels/, tensor/ and parallel/"
    if own == "kernels" and not is_test:
        base = pathlib.PurePath(name).name
        if re.match(r"(cpu_|cuda_|rows\.)", base) and (first == "numeric" or "reference" in header):
            return "a kernel shares no arithmetic with the reference"
        if base.startswith("reference") and header.startswith("kernels/cpu/"):
            return "the reference shares no arithmetic with a kernel"
    return None


def function_lines(path, start):
    """Lines of the function whose definition begins with `start`."""
    lines = path.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(start))
    return next(i for i in range(begin, len(lines)) if lines[i] == "}") - begin + 1


def main():
    breaches = []
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in {".h", ".cc", ".cu", ".cuh"}:
            continue
        name = str(path.relative_to(SRC))
        own = name.split("/")[0]
        lines = len(path.read_text().splitlines())
        if own != "kernels" and lines > MAX_LINES and "unicode/tables" not in name:
            breaches.append(f"{name}: {lines} lines, at most {MAX_LINES}")
        for number, quoted, header in includes(path):
            why = check_include(name, own, quoted, header)
            if why:
                breaches.append(f"{name}:{number}: includes {header}: {why}")
    forward = len((SRC / "model/forward.cc").read_text().splitlines())
    if forward > MAX_FORWARD_LINES:
        breaches.append(f"model/forward.cc: {forward} lines, at most {MAX_FORWARD_LINES}")
    loop = function_lines(SRC / "engine/engine.cc", "void Engine::run(")
    if loop > MAX_LOOP_LINES:
        breaches.append(f"engine/engine.cc: the loop has {loop} lines, at most {MAX_LOOP_LINES}")
    for breach in breaches:
        print(breach)
    print(f"house: {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
