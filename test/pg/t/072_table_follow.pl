# Filter tables that follow a column: random transactions of all statements that change rows, on tables
# of each kind. After each one the filter has exactly the copies of the column's values.
use CuckooCluster;
use CuckooRandom;
use List::Util qw(shuffle);

seed();
my $node = new_cluster('main', conf => "max_prepared_transactions = 4\n");
my $rounds = rounds(240);
my $merges = server_version($node) >= 150000;
my $keys = 1500;
# Columns in any order, with one that is dropped: PostgreSQL then converts the rows of a partition.
my @columns = ('id int', 'base int', 'note text', 'part int', "key int GENERATED ALWAYS AS (base * 7 % $keys) STORED");
my $spread = join('', map { 'CREATE TABLE spread_' . $_ . ' (' . join(', ', shuffle(@columns, 'gone int')) . ", UNIQUE (id, part)); ALTER TABLE spread_$_ DROP COLUMN gone; ALTER TABLE spread ATTACH PARTITION spread_$_ FOR VALUES IN ($_);" } 1 .. 3);

$node->safe_psql('postgres', qq{
	CREATE TABLE plain (gone text, id int PRIMARY KEY, note text, key int, part int);
	ALTER TABLE plain DROP COLUMN gone;
	CREATE FUNCTION redraw() RETURNS trigger LANGUAGE plpgsql AS \$\$
	BEGIN
		IF NEW.key % 89 = 0 THEN RETURN NULL; END IF;
		IF NEW.key % 97 = 0 THEN NEW.key = NULL; END IF;
		RETURN NEW;
	END \$\$;
	CREATE TRIGGER redraw BEFORE INSERT OR UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION redraw();
	CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS \$\$
	BEGIN
		INSERT INTO plain VALUES (NEW.id + 1000000, 'again', NEW.key + 1, 1) ON CONFLICT DO NOTHING;
		RETURN NULL;
	END \$\$;
	CREATE TRIGGER again AFTER INSERT ON plain FOR EACH ROW WHEN (NEW.key % 20 = 3) EXECUTE FUNCTION again();
	CREATE TABLE parted (id int, key int, part int, note text, UNIQUE (id, part)) PARTITION BY LIST (part);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
	CREATE TABLE parted_2 (note text, gone int, part int, key int, id int NOT NULL, UNIQUE (id, part));
	ALTER TABLE parted_2 DROP COLUMN gone;
	ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES IN (2);
	CREATE TABLE parted_3 PARTITION OF parted FOR VALUES IN (3, 4) PARTITION BY RANGE (part);
	CREATE TABLE parted_3a PARTITION OF parted_3 FOR VALUES FROM (3) TO (4);
	CREATE TABLE parted_3b (part int, id int, note text, key int);
	ALTER TABLE parted_3 ATTACH PARTITION parted_3b FOR VALUES FROM (4) TO (5);
	CREATE TABLE heir (id int, note text, key int, part int, UNIQUE (id));
	CREATE TABLE heir_1 (more int, UNIQUE (id)) INHERITS (heir);
	CREATE TABLE parent (code int PRIMARY KEY);
	INSERT INTO parent SELECT generate_series(0, $keys - 1);
	CREATE TABLE child (id int PRIMARY KEY, note text, part int, key int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE);
	CREATE INDEX ON child (key);
	CREATE TABLE made (id int PRIMARY KEY, base int, note text, part int, key int GENERATED ALWAYS AS (base * 7 % $keys) STORED);
	CREATE TABLE spread ($columns[0], $columns[1], $columns[2], $columns[3], $columns[4], UNIQUE (id, part)) PARTITION BY LIST (part);
	$spread
	CREATE TABLE spread_4 PARTITION OF spread DEFAULT;
	CREATE SEQUENCE numbers});

# Tables that take statements, the column to set, and an expression for its values.
my $any = "nullif((random() * $keys)::int, 5)";
my @tables = (
	(map { { name => $_, of => 'plain', set => 'key', value => $any, conflict => '(id)' } } ('plain') x 3),
	(map { { name => $_, of => 'parted', set => 'key', value => $any, conflict => '(id, part)' } } ('parted') x 4),
	{ name => 'parted_1', of => 'parted', set => 'key', value => $any, part => 1 },
	{ name => 'parted_2', of => 'parted', set => 'key', value => $any, part => 2, conflict => '(id, part)' },
	{ name => 'parted_3', of => 'parted', set => 'key', value => $any, part => '3 + (random() * 0.9)::int' },
	{ name => 'parted_3b', of => 'parted', set => 'key', value => $any, part => 4 },
	{ name => 'heir', of => 'heir', set => 'key', value => $any, conflict => '(id)' },
	{ name => 'heir_1', of => 'heir', set => 'key', value => $any, conflict => '(id)' },
	{ name => 'ONLY heir', of => 'heir', set => 'key', value => $any },
	(map { { name => $_, of => 'child', set => 'key', value => "(SELECT min(code) FROM parent, (SELECT (random() * $keys)::int + 0 * t.id AS least) r WHERE code >= least)", conflict => '(id)' } } ('child') x 2),
	(map { { name => $_, of => 'made', set => 'base', value => $any, conflict => '(id)' } } ('made') x 2),
	(map { { name => $_, of => 'spread', set => 'base', value => $any, conflict => '(id, part)' } } ('spread') x 2),
	{ name => 'spread_2', of => 'spread', set => 'base', value => $any, part => 2, conflict => '(id, part)' });
my @sources = qw(plain parted heir child made spread);

# Conditions hold for a part of the rows.
sub some_rows
{
	my $n = pick(2, 7, 30);

	return pick("t.id % $n = " . int(rand($n)), "t.key % $n = " . int(rand($n)), 't.id = (random() * 100)::int', 't.note IS NULL');
}

sub rows_for
{
	my ($table, $n) = @_;
	my $part = $table->{part} // '1 + (random() * 3)::int';
	my $id = chance(0.3) ? '(random() * 500)::int' : "nextval('numbers')::int * 1000 + 500";

	return "SELECT $id AS id, $part AS part, $table->{value} AS $table->{set}, 'n' || t.id AS note FROM generate_series(1, $n) AS t(id)";
}

sub statement
{
	my ($table) = @_;
	my ($name, $set, $rows) = ($table->{name}, $table->{set}, some_rows());
	my $n = pick(1, 1, 3, 40);
	my $into = $name =~ s/ONLY //r;
	my $fresh = "INSERT INTO $into (id, part, $set, note) SELECT nextval('numbers')::int * 1000 + 700, part, $set, note FROM (" . rows_for($table, $n) . ') r';
	my $kind = int(rand(15));

	return $fresh if $kind < 3;
	return "UPDATE $name t SET $set = $table->{value} WHERE $rows" if $kind < 5;
	return "UPDATE $name t SET note = note || 'x' WHERE $rows" if $kind == 5;
	return "DELETE FROM $name t WHERE " . pick($rows, 't.id > 1000 AND t.id % 2 = 0') if $kind < 8;
	return "INSERT INTO $into AS t (id, part, $set, note) SELECT DISTINCT ON $table->{conflict} * FROM (" . rows_for($table, $n) . ") r ON CONFLICT $table->{conflict} DO " . pick('NOTHING', "UPDATE SET $set = EXCLUDED.$set", "UPDATE SET $set = EXCLUDED.$set WHERE t.id % 2 = 0", 'UPDATE SET note = EXCLUDED.note')
	  if $kind == 8 && $table->{conflict};
	return "MERGE INTO $name t USING (SELECT DISTINCT ON (id, part) * FROM (" . rows_for($table, $n) . ") r) r ON t.id = r.id AND t.part = r.part
		WHEN MATCHED AND t.id % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET $set = r.$set WHEN NOT MATCHED AND r.id >= 1000 THEN INSERT (id, part, $set, note) VALUES (r.id, r.part, r.$set, r.note)"
	  if $kind == 9 && $merges && $name ne 'ONLY heir' && $table->{of} ne 'heir';
	return "WITH gone AS (DELETE FROM $name t WHERE $rows AND t.id % 2 = 0 RETURNING id), more AS ($fresh RETURNING id) UPDATE $name t SET $set = $table->{value} WHERE $rows AND t.id % 2 = 1" if $kind == 10;
	return "DO \$\$BEGIN $fresh; DELETE FROM $name t WHERE $rows; BEGIN UPDATE $name t SET $set = $table->{value}; " . pick('RAISE', 'NULL', 'PERFORM 1 / 0') . "; EXCEPTION WHEN OTHERS THEN NULL; END; $fresh; END\$\$" if $kind == 11;
	# by a program: of a script with two COPY FROM STDIN, psql did not run the statements between their data
	return "COPY $into (id, part, $set, note) FROM PROGRAM \$\$printf '" . join('', map { join(',', 5_000_000 + int(rand(1e8)), $table->{part} && $table->{part} =~ /^\d$/ ? $table->{part} : $table->{part} ? 3 : 1 + int(rand(4)), chance(0.1) ? '' : int(rand($keys)), 'copied') . '\n' } 1 .. $n) . "'\$\$ (FORMAT csv)"
	  if $kind == 12 && $table->{of} ne 'child';
	return "UPDATE $table->{of} t SET part = 1 + (part + " . int(rand(3)) . ") % 4, $set = " . pick($set, $any) . " WHERE id > 1000 AND $rows" if $table->{of} =~ /parted|spread/;
	return pick('DELETE FROM parent WHERE code % 300 = ' . int(rand(300)), "UPDATE parent SET code = -code - 1 WHERE code % 200 = " . int(rand(200)),
		'INSERT INTO parent SELECT (random() * ' . ($keys - 1) . ')::int ON CONFLICT DO NOTHING',
		"SET CONSTRAINTS ALL DEFERRED; INSERT INTO child SELECT nextval('numbers')::int * 1000 + 900, 'late', 1, 70000 + nextval('numbers')::int; INSERT INTO parent SELECT key FROM child WHERE key >= 70000 ON CONFLICT DO NOTHING; SET CONSTRAINTS ALL IMMEDIATE")
	  if $table->{of} eq 'child';
	return $fresh;
}

my %capacity = map { $_ => 20000 } @sources;

sub follow
{
	return "SELECT cuckoofilter_table_follow('$_[0]', 'key', 0.000001, $capacity{$_[0]})";
}

# What happens around statements: tables that change, and writes that fire no trigger.
sub event
{
	my $source = pick(@sources);
	my ($table) = grep { $_->{of} eq $source && $_->{name} eq $source } @tables;
	my $partition = pick('parted_1', 'parted_2');
	my $part = substr($partition, -1);

	return "SET session_replication_role = replica; " . statement($table) . "; RESET session_replication_role; " . follow($source) if chance(0.3) && $source ne 'child';
	return 'TRUNCATE ' . pick('plain', 'parted', 'parted_1', 'parted_3', 'heir', 'ONLY heir', 'heir_1', 'child', 'parted_2, made', 'parent CASCADE', 'spread_1', 'spread') if chance(0.3);
	return "ALTER TABLE $source ADD COLUMN extra int DEFAULT 7; " . statement($table) . "; ALTER TABLE $source DROP COLUMN extra" if chance(0.3) && $source ne 'made';
	# a partition that is detached keeps its triggers: until the filter is filled anew it has the items of both
	return "ALTER TABLE parted DETACH PARTITION $partition; " . pick("INSERT INTO $partition (id, key, part) VALUES (nextval('numbers')::int * 1000, 77, $part)", "DELETE FROM $partition WHERE id % 2 = 0", "TRUNCATE $partition") . '; '
	  . follow('parted') . "; " . pick("INSERT INTO $partition (id, key, part) VALUES (nextval('numbers')::int * 1000, 78, $part)", "DELETE FROM $partition", "TRUNCATE $partition") . "; CREATE TABLE seen AS TABLE parted;
		SELECT cuckoofilter_table_check('parted_key_filter'); DROP TABLE seen; ALTER TABLE parted ATTACH PARTITION $partition FOR VALUES IN ($part); " . follow('parted')
	  if chance(0.5);
	return "DROP TRIGGER ${source}_key_filter_" . pick(qw(inserted updated deleted truncated), $source eq 'spread' ? 'generated' : ()) . " ON $source; " . follow($source);
}

sub transaction
{
	my $sql = 'BEGIN ISOLATION LEVEL ' . pick('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE') . ";\n";

	foreach (0 .. int(rand(6)))
	{
		my $one = chance(0.12) ? event() : statement(pick(@tables));
		$one = "SAVEPOINT s;\n$one;\n" . pick('ROLLBACK TO', 'RELEASE') . ' s' if chance(0.2);
		$sql .= "$one;\n";
	}
	return $sql . 'ROLLBACK' if chance(0.1);
	return $sql . "PREPARE TRANSACTION 'p';\n" . pick('COMMIT', 'COMMIT', 'ROLLBACK') . " PREPARED 'p'" if chance(0.1);
	return $sql . 'COMMIT';
}

# Copies that differ from the rows, and items that are in no row.
my $compare = join(' UNION ALL ', map {
	"SELECT '$_', count(*) FILTER (WHERE cuckoofilter_table_copies('${_}_key_filter', key) <> n), coalesce(sum(n), 0) - (cuckoofilter_table_info('${_}_key_filter') ->> 'count')::int, max(n)
		FROM (SELECT key, count(*) AS n FROM $_ WHERE key IS NOT NULL GROUP BY key) c" } @sources);
my $checks = join(', ', map { "cuckoofilter_table_check('${_}_key_filter')" } @sources);

$node->safe_psql('postgres', follow($_)) foreach @sources;
my ($failed, $committed, $most, $wrong) = (0, 0, 0, 0);
my %errors;
foreach my $round (1 .. $rounds)
{
	my $sql = transaction();
	my ($ret, undef, $err) = $node->psql('postgres', seed_of_session() . $sql, extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	if ($ret)
	{
		# what the statements themselves may run into
		$err =~ /(ERROR:.*)/;
		$failed++;
		$errors{ substr($1, 0, 100) }++;
	}
	$committed += !$ret;
	my @saturated;
	foreach my $line (split /\n/, $node->safe_psql('postgres', "$compare"))
	{
		my ($source, $differ, $others, $n) = split(/\|/, $line);
		$most = $n if ($n || 0) > $most;
		if (($n || 0) >= 8) # saturated groups keep their copies
		{
			push @saturated, $source;
			next;
		}
		next if $differ == 0 && $others == 0;
		fail("round $round: $line: $sql");
		$wrong++;
	}
	$node->safe_psql('postgres', "SELECT $checks");
	last if $wrong;
	# few copies of each item, so that no group is saturated
	$node->safe_psql('postgres', "DELETE FROM $_ t USING (SELECT key FROM $_ GROUP BY key HAVING count(*) > 4) m WHERE t.key = m.key; DELETE FROM $_ WHERE id % 3 = 0 AND (SELECT count(*) FROM $_) > 900") foreach @sources;
	$node->safe_psql('postgres', follow($_)) foreach @saturated;
	$node->safe_psql('postgres', "INSERT INTO parent SELECT generate_series(0, $keys - 1) ON CONFLICT DO NOTHING");
}
note("$committed committed, $failed failed, at most $most copies");
note("$errors{$_}: $_") foreach sort keys %errors;
is($wrong, 0, 'filters have the copies of the rows, after each transaction');
is(join("\n", grep { !/ERROR:  (21000|23505|40001|23503)/ } sort keys %errors), '', 'only conflicts fail');
cmp_ok($failed, '<=', $rounds / 2, 'most transactions commit');
# each value once, and too many for whole hashes: the export is the aggregate
$node->safe_psql('postgres', 'INSERT INTO parent SELECT 100000 + g FROM generate_series(1, 1000) g');
foreach my $source (@sources)
{
	$node->safe_psql('postgres', "INSERT INTO $source (id, part, " . ($source =~ /made|spread/ ? 'base) SELECT 9000000 + g, 1, g' : 'key) SELECT 9000000 + g, 1, 100000 + g') . ' FROM generate_series(1, 1000) g');
	$node->safe_psql('postgres', "DELETE FROM $source t USING (SELECT key FROM $source GROUP BY key HAVING count(*) > 1) m WHERE t.key = m.key");
	is($node->safe_psql('postgres', "SELECT cuckoofilter_export('${source}_key_filter') = (SELECT cuckoofilter_agg(key, 0.000001, 20000) FROM $source)"), 't', "$source: export");
}

$node->stop;
done_testing();
