#!/bin/bash
# Makes tests/.venv with the pinned PyPI packages that the server tests need. Safe to run again, and at once.
set -euo pipefail
cd "$(dirname "$0")/.."
exec 9> .venv.lock
flock 9
want="$(sha256sum server/requirements.txt | cut -d' ' -f1)"
if [[ -f .venv/stamp && "$(cat .venv/stamp)" == "$want" ]]; then exit 0; fi
rm -rf .venv
python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r server/requirements.txt
echo "$want" > .venv/stamp
