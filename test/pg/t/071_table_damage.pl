# Filter tables with rows that no function of them has written, by roads around the CHECK constraint:
# forged chunks whose check is right, chunks of other rows and tables, gaps, overlaps, NULL. Every
# function answers or raises an error, soon; _check is compared with a second computation; damage
# that is not forged makes no item absent.
use CuckooCluster;
use CuckooRandom;

seed();
my $node = new_cluster('main', conf => "restart_after_crash = off\n");
my $rounds = rounds(400);
my @tables = ("100000, 0.01", "20000, 0.001, 'kind=set'", "20000, 0.02, 'bucket_size=8'", "20000, 0.001, 'layout=plain,seed=77'", "50000, 0.1, 'bucket_size=2'", "1000, 0.0001");

$node->safe_psql('postgres', q{
	CREATE TABLE source (item bigint);
	-- the halves of a chunk are stored exchanged
	CREATE FUNCTION from_stored(bytes bytea) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$
		SELECT substr(bytes, 1 + length(bytes) / 2) || substr(bytes, 1, length(bytes) / 2) $$;
	CREATE FUNCTION to_stored(bytes bytea) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$
		SELECT substr(bytes, 1 + (length(bytes) + 1) / 2) || substr(bytes, 1, (length(bytes) + 1) / 2) $$;
	-- bytes, and the check of a chunk (FORMAT.md, section 10)
	CREATE FUNCTION seal(bytes bytea, seed bigint) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$
		SELECT bytes || substr(int8send(h), 8, 1) || substr(int8send(h), 7, 1) || substr(int8send(h), 6, 1) FROM cuckoofilter_hash(bytes, seed) h $$;
	-- the salt of a table, from one of its rows: c is not in the information
	CREATE FUNCTION salt_of(seen regclass) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		info jsonb = cuckoofilter_table_info(seen);
		salt bigint;
		valid boolean;
	BEGIN
		FOR c IN 4 .. 20 LOOP
			salt = cuckoofilter_hash(decode(lpad(to_hex((info ->> 'prefix_bits')::int), 2, '0') || lpad(to_hex(c), 2, '0') || lpad(to_hex((info ->> 'bucket_size')::int), 2, '0')
				|| CASE info ->> 'layout' WHEN 'plain' THEN '02' ELSE '01' END || CASE info ->> 'kind' WHEN 'set' THEN '01' ELSE '00' END
				|| lpad(to_hex((info ->> 'seed')::int), 2, '0') || '00000000000000', 'hex'), 0);
			EXECUTE format('SELECT seal(substr(chunk, 1, length(chunk) - 3), $1 # id # (-9223372036854775808)) = chunk FROM (SELECT id, from_stored(chunk) AS chunk FROM %s) r LIMIT 1', seen) INTO valid USING salt;
			IF valid THEN RETURN salt; END IF;
		END LOOP;
		RAISE 'no salt';
	END $$;
	-- other bits in the trailer or the body, with the right check
	CREATE FUNCTION forge(id bigint, bytes bytea, salt bigint) RETURNS bytea LANGUAGE sql AS $$
		SELECT seal(substr(bytes, 1, greatest(length(bytes) - 3, 0)), salt # id # (-9223372036854775808)) $$;
	CREATE FUNCTION random_bytes(n int) RETURNS bytea LANGUAGE sql AS $$
		SELECT coalesce(decode(string_agg(lpad(to_hex((random() * 255)::int), 2, '0'), ''), 'hex'), '') FROM generate_series(1, n) $$;
	-- byte number `at` from the end, if there is one
	CREATE FUNCTION with_byte(bytes bytea, at int, value int) RETURNS bytea LANGUAGE sql AS $$
		SELECT CASE WHEN at BETWEEN 1 AND length(bytes) THEN set_byte(bytes, length(bytes) - at, value) ELSE bytes END $$;
	-- a second computation of what _check says
	CREATE FUNCTION whole(seen regclass, arguments text) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		answer boolean;
	BEGIN
		EXECUTE format('SELECT coalesce(bool_and(coalesce(valid, false) AND start = coalesce(before, 0)) AND max(after) = 2 ^ 64::numeric, true) FROM (
			SELECT *, lag(after) OVER (ORDER BY start) AS before FROM (
				SELECT cuckoofilter_chunk_valid(id, chunk, NULL::bigint, %2$s) AS valid, id + 2 ^ 63::numeric AS start,
					id + 2 ^ 63::numeric + CASE WHEN length(chunk) > 7 THEN 2 ^ (64 - (get_byte(from_stored(chunk), length(chunk) - 8) & 63))::numeric END AS after
				FROM %1$s) rows) lagged', seen, arguments) INTO answer;
		RETURN answer;
	END $$;
	-- each statement, and how it ends
	CREATE FUNCTION ask(seen regclass, statements text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE
		statement text;
		answer text;
	BEGIN
		FOREACH statement IN ARRAY statements LOOP
			BEGIN
				EXECUTE format(statement, seen) INTO answer;
				RETURN NEXT ' ' || coalesce(answer, '');
			EXCEPTION WHEN OTHERS THEN
				RETURN NEXT SQLSTATE || ' ' || SQLERRM;
			END;
		END LOOP;
	END $$;
	-- the items that are denied
	CREATE FUNCTION denied(seen regclass) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		denied bigint = 0;
	BEGIN
		FOR item IN 1 .. 3000 BY 11 LOOP
			BEGIN
				IF NOT cuckoofilter_table_contains(seen, item) THEN denied = denied + 1; END IF;
			EXCEPTION WHEN data_corrupted THEN
				NULL;
			END;
		END LOOP;
		RETURN denied;
	END $$});

my @statements = (
	"SELECT denied('%1\$s')",
	"SELECT cuckoofilter_table_check('%1\$s')",
	"SELECT cuckoofilter_table_info('%1\$s') -> 'count'",
	"SELECT cuckoofilter_count(cuckoofilter_export('%1\$s'))",
	"SELECT sum(cuckoofilter_table_copies('%1\$s', g)) FROM generate_series(1, 9000, 13) g",
	"SELECT cuckoofilter_table_add_all('%1\$s', ARRAY(SELECT generate_series(1, 6000)))",
	"SELECT cuckoofilter_table_remove_all('%1\$s', ARRAY(SELECT generate_series(1, 6000)))",
	"SELECT cuckoofilter_table_add('%1\$s', 7)", "SELECT cuckoofilter_table_add('%1\$s', -7)", "SELECT cuckoofilter_table_remove('%1\$s', 7)",
	"SELECT cuckoofilter_table_merge('%1\$s', cuckoofilter_export('twin_%1\$s'))",
	"SELECT cuckoofilter_table_optimize('%1\$s')",
	"SELECT cuckoofilter_table_check('%1\$s')",
	"SELECT cuckoofilter_count(cuckoofilter_export('%1\$s'))");
my $list = 'ARRAY[' . join(', ', map { '$$' . $_ . '$$' } @statements) . ']';

foreach my $n (0 .. $#tables)
{
	# a twin has the same parameters, another table others
	$node->safe_psql('postgres', "
		SELECT cuckoofilter_table_create('t$n', 'bigint', $tables[$n]);
		SELECT cuckoofilter_table_create('twin_t$n', 'bigint', $tables[$n]);
		SELECT cuckoofilter_table_add_all('t$n', ARRAY(SELECT generate_series(1, 3000)));
		SELECT cuckoofilter_table_add_all('twin_t$n', ARRAY(SELECT generate_series(10001, 11500)));
		CREATE VIEW twin_$n AS SELECT id, from_stored(chunk) AS chunk FROM twin_t$n;
		CREATE TABLE salt_$n AS SELECT salt_of('t$n') AS salt;
		ALTER TABLE t$n DROP CONSTRAINT t${n}_check, ALTER chunk DROP NOT NULL");
}

# A row: the first, the last, any, or all.
sub some_row
{
	my ($table) = @_;

	return 'true' if chance(0.1);
	return "id = (SELECT " . pick('min', 'max') . "(id) FROM $table)" if chance(0.2);
	return "id = (SELECT id FROM $table ORDER BY random() LIMIT 1)";
}

# A change, and whether it only damages: forged rows and those of a twin may have other items.
sub damage
{
	my ($n) = @_;
	my ($table, $salt, $other) = ("t$n", "(SELECT salt FROM salt_$n)", 't' . (($n + 1) % @tables));
	my $row = some_row($table);
	my $at = pick(1 .. 8, 9 .. 12, 20, 100);
	my $forged = sub { "forge(id, $_[0], $salt)" };
	my $draw = '(SELECT chunk FROM %s ORDER BY random() LIMIT 1)';

	return ("DELETE FROM $table WHERE $row", 1) if chance(0.12);
	return ("UPDATE $table SET chunk = " . pick(
			'NULL', "''", "substr(chunk, 1, length(chunk) - $at)", "substr(chunk, $at)", "chunk || '\\x00'", 'chunk || chunk', "with_byte(chunk, $at, (random() * 255)::int)",
			'random_bytes(' . pick(1, 7, 8, 9, 50, 700, 4056, 4057, 8000) . ')', sprintf($draw, $other)) . " WHERE $row", 1) if chance(0.35);
	return ("UPDATE $table SET id = " . pick('id + 1', 'id - 1', '-id', 'id / 2', '9223372036854775807', '-9223372036854775808', '0', '(random() * 9e18)::bigint') . " WHERE $row", 1) if chance(0.2);
	return (pick("UPDATE $table SET chunk = t.chunk FROM twin_$n t WHERE t.id = $table.id", "INSERT INTO $table SELECT * FROM twin_$n t ON CONFLICT DO NOTHING"), 0) if chance(0.15);
	return ("INSERT INTO $table SELECT id + (1::bigint << " . pick(4, 40, 52, 56, 60, 62) . "), forge(id + 0, chunk, $salt) FROM $table WHERE $row ON CONFLICT DO NOTHING", 1) if chance(0.1);
	return ("INSERT INTO $table SELECT at, forge(at, chunk, $salt) FROM (SELECT id + (1::bigint << " . pick(4, 40, 52, 54, 56, 58, 60, 62) . ") AS at, chunk FROM $table WHERE $row AND id < 0) r ON CONFLICT DO NOTHING", 0) if chance(0.15);
	return ("UPDATE $table SET chunk = " . $forged->(pick(
			"with_byte(chunk, $at, (random() * 255)::int)", "with_byte(with_byte(chunk, $at, (random() * 255)::int), 8, get_byte(chunk, length(chunk) - 8) # " . pick(1, 2, 3, 64, 128, 192) . ')',
			"with_byte(chunk, 5, get_byte(chunk, length(chunk) - 5) + 1 & 255)", "with_byte(chunk, 7, get_byte(chunk, length(chunk) - 7) + 1 & 255)",
			'substr(chunk, 1 + ' . pick(1, 2, 50) . ')', 'random_bytes(' . pick(8, 9, 20, 100, 500, 4056) . ')',
			'random_bytes(' . pick(8, 56, 200, 600) . ') || substr(chunk, length(chunk) - 7)', "random_bytes(length(chunk) - 8) || substr(chunk, length(chunk) - 7)",
			sprintf($draw, "twin_$n"), sprintf($draw, $table))) . " WHERE $row", 0);
}

my %states;
my ($damaged, $checked) = (0, 0);

foreach my $round (1 .. $rounds)
{
	my $n = int(rand(@tables));
	my @damage = map { [ damage($n) ] } 0 .. int(rand(3));
	my $sql = join('; ', map { $_->[0] } @damage);
	my $constraint = "ALTER TABLE t$n ADD CONSTRAINT t${n}_check CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::bigint, " . ($tables[$n] =~ /'/ ? $tables[$n] : "$tables[$n], ''") . ')) NOT VALID';
	my ($ret, $out, $err) = $node->psql('postgres', seed_of_session() . "SET statement_timeout = '300s'; BEGIN; UPDATE t$n SET chunk = from_stored(chunk); " . join(' ', map { "DO \$\$BEGIN $_->[0]; EXCEPTION WHEN OTHERS THEN NULL; END\$\$;" } @damage) . "
		UPDATE t$n SET chunk = to_stored(chunk); $constraint; SELECT whole('t$n', \$\$" . ($tables[$n] =~ /'/ ? $tables[$n] : "$tables[$n], ''") . "\$\$); SELECT ask('t$n', $list); ROLLBACK");
	my ($whole, @answers) = split(/\n/, $out);

	if ($ret || @answers != @statements)
	{
		fail("round $round: $sql: $err");
		last;
	}
	my @wrong = grep { !/^( |XX001 |54000 |55000 cannot remove from a cuckoofilter of kind set)/ } @answers;
	is(join("\n", @wrong), '', "round $round: $sql") if @wrong;
	$states{ /^ / ? 'answered' : substr($_, 0, 5) }++ foreach @answers;
	my $said = $answers[1] =~ /^ / ? 't' : 'f';
	is($said, $whole, "round $round: check: $sql: $answers[1]") if $said ne $whole;
	# without rows, or with those of another table, it is another filter
	is($answers[0], ' 0', "round $round: items are denied: $sql")
	  if $answers[0] ne ' 0' && !grep({ !$_->[1] } @damage) && $sql !~ /DELETE FROM t\d WHERE true/;
	$damaged += $whole ne 't';
	$checked++;
}
note("$checked rounds, $damaged of them damaged: " . join(', ', map { "$_: $states{$_}" } sort keys %states));
is($checked, $rounds, 'each round ended');
cmp_ok($damaged, '>', $rounds / 3, 'most changes are damage');

# ------------------------------------------------------------------- by hand

my $damaged_state = sub { error_state($node, $_[0]) };

# what follows a table is filled anew, whatever its rows are
$node->safe_psql('postgres', q{
	INSERT INTO source SELECT generate_series(1, 3000);
	SELECT cuckoofilter_table_follow('source', 'item', 0.01, 5000)});
foreach my $repair ("SELECT cuckoofilter_table_follow('source', 'item', 0.01, 5000)", 'TRUNCATE source')
{
	my $table = 'source_item_filter';

	$node->safe_psql('postgres', "ALTER TABLE $table DROP CONSTRAINT ${table}_check; UPDATE $table SET chunk = ''; DELETE FROM $table WHERE id = (SELECT id FROM $table ORDER BY id OFFSET 2 LIMIT 1);
		ALTER TABLE $table ADD CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::bigint, 5000, 0.01, '')) NOT VALID");
	is($damaged_state->('INSERT INTO source VALUES (-1)'), 'XX001', 'a source whose filter is damaged');
	is($damaged_state->($repair), '', "repaired by $repair");
	is($node->safe_psql('postgres', "SELECT cuckoofilter_export('$table') = (SELECT CASE count(*) WHEN 0 THEN cuckoofilter_create(5000) ELSE cuckoofilter_agg(item, 0.01, 5000) END FROM source)"), 't', 'as new');
}
# a gap, an end that is missing, ranges that overlap
$node->safe_psql('postgres', "INSERT INTO source SELECT generate_series(1, 3000)");
foreach my $gap ('min(id)', 'max(id)', '(array_agg(id ORDER BY id))[3]')
{
	my @states = map { $damaged_state->("BEGIN; DELETE FROM source_item_filter WHERE id = (SELECT $gap FROM source_item_filter); SELECT $_('source_item_filter'); ROLLBACK") }
	  ('cuckoofilter_table_check', 'cuckoofilter_table_info', 'cuckoofilter_export', 'cuckoofilter_table_optimize');
	is("@states", 'XX001 XX001 XX001 XX001', "a gap at $gap");
}
# rows that belong to other parameters
$node->safe_psql('postgres', "CREATE TABLE other (LIKE source_item_filter INCLUDING INDEXES); INSERT INTO other TABLE source_item_filter;
	ALTER TABLE other ADD CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::bigint, 5000, 0.0001, '')) NOT VALID");
is($damaged_state->("SELECT $_"), 'XX001', "other parameters: $_") foreach ("cuckoofilter_table_contains('other', 1)", "cuckoofilter_table_add('other', 1)", "cuckoofilter_table_check('other')");
# a unique index is no primary key: it may have a NULL, or descend
foreach my $index ('(id)', '(id DESC)')
{
	is($damaged_state->("BEGIN; ALTER TABLE other DROP CONSTRAINT other_pkey, ALTER id DROP NOT NULL; CREATE UNIQUE INDEX ON other $index; INSERT INTO other VALUES (NULL, '');
		SELECT cuckoofilter_table_contains('other', 1); ROLLBACK"), '55000', "without a primary key, but an index on $index");
}
# constraints that say nothing, or too much
foreach my $check ('NULL::bigint, NULL, 0.01, $$$$', 'NULL::bigint, 5000, 0.01, current_user', 'NULL::bigint, random()::bigint, 0.01, $$$$', "NULL::bigint, 5000, 'NaN', ''", "NULL::bigint, 0, 0.01, ''", "NULL::bigint, 5000, 0.01, 'kind=sets'", "NULL::json, 5000, 0.01, ''", "NULL::cuckoofilter, 5000, 0.01, ''", "ARRAY[id], 5000, 0.01, ''")
{
	my $state = $damaged_state->("BEGIN; ALTER TABLE other DROP CONSTRAINT other_check, ADD CHECK (cuckoofilter_chunk_valid(id, chunk, $check)) NOT VALID; SELECT cuckoofilter_table_contains('other', '1'); ROLLBACK");
	like($state, qr/^(42809|22023|42883|42804|22P02|XX001)$/, "a constraint of ($check)");
}

$node->stop;
done_testing();
