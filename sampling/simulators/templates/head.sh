#!/bin/sh
@comment@
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }
fail() { printf '%s\n' "$0: $1" >&2; exit 1; }
