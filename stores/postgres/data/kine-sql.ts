import {
  compactionName,
  gapPrefix,
  kineHealthName,
  kineRoot,
  kineRootEnd,
  uncopiedNames,
} from '../../kine/kine-keys.ts';

/** Names of this project's own: plain text between quotes. */
const text = (name: string): string => `'${name}'`;

/** The order in which kine compares names, regardless of the collation of the column. */
const name = `name COLLATE "C"`;
const inRoot = `${name} >= ${text(kineRoot)} AND ${name} < ${text(kineRootEnd)}`;
const isTenants = [
  `name <> ${text(kineHealthName)}`,
  ...uncopiedNames.map((prefix) => `NOT starts_with(name, ${text(prefix)})`),
].join(' AND ');

/** A refused write has consumed an id: kine waits for it until it has filled the gap. */
const uncopied = [gapPrefix, ...uncopiedNames].map((prefix) => `starts_with(name, ${text(prefix)})`).join(' OR ');

const head = 'kine.id, kine.name, kine.deleted, coalesce(octet_length(kine.value), 0) AS bytes';
const row = 'kine.id, kine.name, kine.created, kine.deleted, kine.create_revision, kine.lease, kine.value';

/**
 * What kine does when it starts and there is no table:
 * https://github.com/k3s-io/kine/blob/v0.16.4/pkg/drivers/pgsql/pgsql.go
 */
export const createKine: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS public.kine (
     id BIGSERIAL PRIMARY KEY, name text COLLATE "C", created INTEGER, deleted INTEGER,
     create_revision BIGINT, prev_revision BIGINT, lease INTEGER, value bytea, old_value bytea)`,
  'CREATE INDEX IF NOT EXISTS kine_name_index ON public.kine (name)',
  'CREATE INDEX IF NOT EXISTS kine_name_id_index ON public.kine (name, id)',
  'CREATE INDEX IF NOT EXISTS kine_id_deleted_index ON public.kine (id, deleted)',
  'CREATE INDEX IF NOT EXISTS kine_prev_revision_index ON public.kine (prev_revision)',
  'CREATE UNIQUE INDEX IF NOT EXISTS kine_name_prev_revision_uindex ON public.kine (name, prev_revision)',
  'CREATE INDEX IF NOT EXISTS kine_list_query_index ON public.kine (name, id DESC, deleted)',
];

/** Statements over kine's table; parameters are named where they are used. */
export const kineSql = {
  exists: `SELECT to_regclass('public.kine') IS NOT NULL AS there`,
  position: `SELECT coalesce(max(id), 0) AS last, coalesce((SELECT max(prev_revision) FROM public.kine
    WHERE name = ${text(compactionName)}), 0) AS compacted FROM public.kine`,
  /**
   * Transactions that may have taken an id: every writer holds one of these locks on the table before it takes one, until it is
   * visible. Vacuum's and a reader's are not among them.
   */
  writers: `SELECT coalesce(virtualtransaction, '') AS transaction FROM pg_locks
    WHERE locktype = 'relation' AND granted AND pid IS DISTINCT FROM pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = 'public.kine'::regclass
      AND mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`,
  count: `SELECT count(*)::float8 AS keys FROM public.kine JOIN
    (SELECT max(id) AS id FROM public.kine WHERE ${inRoot} AND ${isTenants} GROUP BY ${name}) newest USING (id) WHERE deleted = 0`,
  /** Of all keys, also those that are not copied. */
  content: `SELECT count(*)::float8 AS keys, coalesce(sum(octet_length(name) + coalesce(octet_length(value), 0)), 0)::float8 AS bytes
    FROM public.kine JOIN (SELECT max(id) AS id FROM public.kine WHERE ${inRoot} GROUP BY ${name}) newest USING (id)
    WHERE deleted = 0 AND name <> ${text(kineHealthName)}`,
  /** $1: revision, $2: the name to go on behind, $3: how many. */
  newest: `SELECT ${head} FROM
    (SELECT max(id) AS id FROM public.kine WHERE ${inRoot} AND ${name} > $2 AND id <= $1 GROUP BY ${name} ORDER BY ${name} LIMIT $3) newest
    JOIN public.kine USING (id) ORDER BY ${name}`,
  /** $1: behind this id, $2: up to this one or null, $3: how many. */
  following: `SELECT ${head} FROM public.kine WHERE id > $1 AND ($2::bigint IS NULL OR id <= $2) ORDER BY id LIMIT $3`,
  /** $1: ids. */
  read: `SELECT ${row} FROM public.kine WHERE id = ANY ($1::bigint[])`,
  /** $1: names. */
  latest: `SELECT ${row} FROM unnest($1::text[]) AS wanted (name) CROSS JOIN LATERAL
    (SELECT * FROM public.kine WHERE kine.name = wanted.name ORDER BY id DESC LIMIT 1) AS kine`,
  /** $1 to $8: a column each. */
  insert: `INSERT INTO public.kine (name, created, deleted, create_revision, prev_revision, lease, value, old_value)
    SELECT name, created, deleted, create_revision, prev_revision, lease, value, old_value
    FROM unnest($1::text[], $2::int[], $3::int[], $4::bigint[], $5::bigint[], $6::int[], $7::bytea[], $8::bytea[])
      WITH ORDINALITY AS given (name, created, deleted, create_revision, prev_revision, lease, value, old_value, place)
    ORDER BY place`,
  /** $1: at least this id. */
  reached: `SELECT coalesce(max(id), 0) AS last, greatest($1::bigint, max(id),
    pg_sequence_last_value(pg_get_serial_sequence('public.kine', 'id')::regclass)) AS wanted FROM public.kine`,
  /** $1: the last id that was given. */
  goOn: `SELECT setval(pg_get_serial_sequence('public.kine', 'id')::regclass, $1::bigint)`,
  /** $1: id, $2: name. The row with which kine itself fills a gap. */
  fill: `INSERT INTO public.kine (id, name, created, deleted, create_revision, prev_revision, lease) VALUES ($1, $2, 0, 1, 0, 0, 0)`,
  /** The row that kine makes when it starts for the first time. */
  startCompaction: `INSERT INTO public.kine (name, created, deleted, create_revision, prev_revision, lease, value)
    SELECT ${text(compactionName)}, 1, 0, 0, 0, 0, '' WHERE NOT EXISTS (SELECT FROM public.kine WHERE name = ${text(compactionName)})`,
  /** $1: up to this revision. */
  compacted: `UPDATE public.kine SET prev_revision = $1 WHERE name = ${text(compactionName)} AND prev_revision < $1`,
  mayWrite: `SELECT has_table_privilege('public.kine', 'INSERT') AND NOT relforcerowsecurity AS may
    FROM pg_class WHERE oid = 'public.kine'::regclass`,
  /** The owner's own rights, not its ownership: a kine that starts now still finds its table and serves reads. */
  fence: 'REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON public.kine FROM CURRENT_USER',
  unfence: 'GRANT INSERT, UPDATE, DELETE, TRUNCATE ON public.kine TO CURRENT_USER',
  /** Whether rows of some names may be appended behind the fence. */
  isOpenToUncopied: `SELECT relforcerowsecurity AS open FROM pg_class WHERE oid = 'public.kine'::regclass`,
  /** Policies hold for the owner of the table too, since they are forced. kine reads what it appends. */
  openUncopied: [
    'CREATE POLICY steward_fence_reads ON public.kine FOR SELECT USING (true)',
    `CREATE POLICY steward_fence_uncopied ON public.kine FOR INSERT WITH CHECK (${uncopied})`,
    'ALTER TABLE public.kine ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    'GRANT INSERT ON public.kine TO CURRENT_USER',
  ],
  closeUncopied: [
    'ALTER TABLE public.kine NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY',
    'DROP POLICY IF EXISTS steward_fence_uncopied ON public.kine',
    'DROP POLICY IF EXISTS steward_fence_reads ON public.kine',
  ],
  /** All readers wait behind a statement that waits for a lock on the whole table. */
  impatient: `SET LOCAL lock_timeout = '250ms'`,
} as const;
