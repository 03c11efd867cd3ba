#!/bin/sh
# The page of `make demo-web`, one file that a browser opens without a server:  page.sh WASM FILTERS > index.html
#
# A page from a folder may fetch nothing and import no module.  So index.html gets, in the place of each line
# "@file NAME@", that file: the modules one after the other without their imports and exports, the code in
# WebAssembly as base64, and the filters.
set -eu
wasm=$1
filters=$2
cd "$(dirname "$0")"

file() # name
{
	case $1 in
		wasm) base64 -w 0 "$wasm" ;;
		filters) sed 's/</\\u003c/g' "$filters" ;;
		*.js) sed -e '/^import /,/;$/d' -e '/^export {/d' -e 's/^export //' "$1" ;;
		*) cat "$1" ;;
	esac
}

while IFS= read -r line; do
	case $line in
		@file*@)
			name=${line#@file }
			file "${name%@}"
			;;
		*) printf '%s\n' "$line" ;;
	esac
done < index.html
