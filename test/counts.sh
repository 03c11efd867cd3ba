# The counts of a suite that is a shell script, which sources this file.
# shellcheck shell=sh

passed=0
failed=0

# Compare two texts.
same() # what got want
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
		echo "ok   $1"
	else
		failed=$((failed + 1))
		printf 'FAIL %s: got\n%s\nwant\n%s\n' "$1" "$2" "$3"
	fi
}

# Print the counts.  The status is that of the suite.
counts() # suite
{
	echo "$1: $passed passed, $failed failed"
	[ "$failed" = 0 ]
}
