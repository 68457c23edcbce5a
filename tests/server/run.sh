#!/bin/bash
# Runs one Python test file against $ASSAY in the pinned environment.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
"$here/venv.sh"
exec "$here/../.venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
