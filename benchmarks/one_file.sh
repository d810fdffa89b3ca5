#!/usr/bin/env bash
# Make the one file of docs/guide/scripts.md by its own command in a copy of this checkout, and try it where
# nothing else is: no project folder, no home, and modules of other people's on PYTHONPATH.
set -euo pipefail
project=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "$project" archive HEAD | tar -x -C "$work"
cd "$work"
command=$(sed -n '/<!-- one file -->/,/<!-- end -->/p' docs/guide/scripts.md | grep -v -e '<!--' -e '```')
printf '+ %s\n' "$command"
time eval "$command"
ls -l kernelpoint.pex

mkdir server && mv kernelpoint.pex server && cd server
for module in tui numpy typer; do echo 'raise SystemExit("imported")' >"$module.py"; done
alone() { env -i PATH="$PATH" HOME="$work/server" PEX_ROOT="$work/root" PYTHONPATH="$work/server" ./kernelpoint.pex "$@"; }
echo '+ the first run unpacks it, the second does not'
time alone --version
time alone --version
alone sample "$work/sample_data/resnet50-like.sqlite" -o plan.json
alone export plan.json --to csv -o chosen
