#!/bin/sh
# The soak suites: crashes, cancels, memory, load.  test/soak/run.sh [PERCENT [SECONDS]]
#
# PERCENT of a full run's rounds, which takes half an hour; SECONDS of each load.
# SEED=n replays the random moments.
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-100}
seconds=${2:-$((rounds * 180 / 100))}
seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "SEED=$seed, $rounds per cent of the rounds, loads of $seconds s"
exec env SEED="$seed" ROUNDS="$rounds" SECONDS="$seconds" test/run.sh soak
