#!/bin/sh
# The paper's evaluation and our figures beside it: CSV, SVG, RESULTS.md.
#   sh test/bench/run.sh             about 10 minutes, into test/bench/results/
#   QUICK=1 sh test/bench/run.sh     about 1 minute, into build/bench/quick/
set -eu

cd "$(dirname "$0")/../.."
bench=test/bench
build=build/bench
case "${QUICK:-0}" in
	0 | '') results=$bench/results ;;
	*) results=$build/quick ;;
esac

test/install.sh bench
make -s core build/test/cpu.o
mkdir -p $build "$results"

compile()
{
	cc -std=c11 -Wall -Wextra -Icore "$@"
}

# The references get the better optimizer, ours what ships.
compile -O3 -c $bench/references.c -o $build/references.o
for part in bench engine; do
	compile -O2 -c $bench/$part.c -o $build/$part.o
done
for program in load space ratio speed; do
	compile -O2 $bench/$program.c $build/references.o $build/bench.o $build/engine.o \
		build/test/cpu.o build/core/libckf.a -lm -o $build/$program
done

for program in ratio speed load space; do
	echo "== $program" >&2
	$build/$program "$results"
done

for plot in load space speed; do
	gnuplot -e "dir = '$results'" $bench/plot/style.gp $bench/plot/$plot.gp
done
/usr/bin/python3 $bench/report.py "$results" > "$results/RESULTS.md.tmp"
mv "$results/RESULTS.md.tmp" "$results/RESULTS.md"
echo "Written: $results/RESULTS.md"
