#!/bin/sh
# Runs a program of Windows under wine:  test/wine.sh PROGRAM ARGUMENT...
# wine keeps its settings in build/test/wine, and shows no window and no message of its own.
set -eu
folder=$(cd "$(dirname "$0")/.." && pwd)/build/test/wine
mkdir -p "$folder"
export WINEPREFIX="$folder" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' DISPLAY=
program=$1
shift
[ ! -f "$program.exe" ] || program=$program.exe
exec wine "$program" "$@"
