#!/usr/bin/env bash
# Checks a model with Spin (Debian's package `spin`): ./check.sh log.pml -DLOSSY=1 -DFO=2
# It holds when the last line says "errors: 0".
set -euo pipefail
model=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
spin -a "$@" "$model" >/dev/null
# Optimized code is faster only in a search of all states. An error ends the search early.
gcc "${OPTIMIZATION:--O2}" -DSAFETY -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c
./pan -m200000 -w24 >out 2>&1 || true
grep -E 'assertion violated|invalid end|max search depth|memory limit' out || true
grep -E 'States=|states, stored' out | tail -1
grep -E 'errors:' out
