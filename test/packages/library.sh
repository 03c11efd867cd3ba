#!/bin/sh
# Debian's packages of the C library: the runtime, the headers, and the example.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages gcc libc6-dev pkg-config /packages/libcuckoofilter1_*_"$(dpkg --print-architecture)".deb /packages/libcuckoofilter-dev_*_"$(dpkg --print-architecture)".deb
cd /tmp

cat > abc.c << 'TEXT'
#include <cuckoofilter_program.h>
#include <stdio.h>

int main(void)
{
	cuckoofilter_error error = {0};
	cuckoofilter_builder *builder = cuckoofilter_build(0.01, 0, NULL, &error);
	cuckoofilter *filter;
	const unsigned char *bytes;
	size_t size;

	for (const char *text = "abc"; *text; text++)
		if (!cuckoofilter_build_add(builder, cuckoofilter_text(text, 1), &error))
			return 1;
	filter = cuckoofilter_build_end(builder, &error);
	cuckoofilter_build_free(builder);
	bytes = cuckoofilter_data(filter, &size);
	for (size_t i = 0; i < size; i++)
		printf("%02X", bytes[i]);
	fwrite(bytes, 1, size, stderr);
	cuckoofilter_free(filter);
	return 0;
}
TEXT

build() # argument...
{
	# shellcheck disable=SC2046 # flags are words
	gcc -Wall -Wextra "$@" $(pkg-config --cflags --libs cuckoofilter) 2>&1
}

equal "library: a program compiles" "$(build abc.c -o abc)" ""
equal "library: its filter is the same bytes" "$(./abc 2> filter)" "$ABC"
equal "library: pkg-config tells the version" "$(pkg-config --modversion cuckoofilter)" "$VERSION"
equal "library: the example compiles" "$(build /usr/share/doc/libcuckoofilter-dev/examples/ask.c -o ask)" ""
equal "library: the example asks a filter" "$(./ask filter 5)" "3 items, rate 0.0000
5: the cuckoofilter holds text, the item is a number"
quietly apt-get purge -y -q libcuckoofilter-dev
equal "library: programs run without the headers" "$(./abc 2> /dev/null)" "$ABC"
quietly apt-get purge -y -q libcuckoofilter1
equal "library: nothing stays behind" "$(find /usr /etc /var/lib -name '*cuckoofilter*')" ""
