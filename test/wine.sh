#!/bin/sh
# Runs a program of Windows under wine:  test/wine.sh PROGRAM ARGUMENT...
# wine keeps its settings in build/test/wine, and shows no window and no message of its own.
set -eu
folder=$(cd "$(dirname "$0")/.." && pwd)/build/test/wine
mkdir -p "$folder"
export WINEPREFIX="$folder" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' DISPLAY=
# What wine says when it makes them is not the program's.
[ -f "$folder/system.reg" ] || wineboot --init > /dev/null 2>&1 || true
program=$1
shift
[ ! -f "$program.exe" ] || program=$program.exe
exec wine "$program" "$@"
