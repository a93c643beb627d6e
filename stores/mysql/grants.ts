/** What this driver uses each privilege for, so that a person sees why it is required. */
const needed: readonly (readonly [right: string, use: string])[] = [
  ['SELECT', 'copy a tenant'],
  ['INSERT', 'write the data of a migrated tenant, record owners'],
  ['UPDATE', 'write the data of a migrated tenant, record owners'],
  ['DELETE', 'record owners'],
  ['CREATE', 'create databases'],
  ['ALTER', 'upgrade the table of an adopted tenancy'],
  ['DROP', 'remove databases'],
  ['TRIGGER', 'inspect the database of an adopted tenancy'],
  ['EVENT', 'inspect the database of an adopted tenancy'],
  ['LOCK TABLES', 'wait for pending writes'],
  ['PROCESS', 'find the connections of a removed tenant'],
  ['CREATE USER', 'create accounts'],
  ['GRANT OPTION', 'grant accounts their table'],
];

/** The privilege to end connections of others: in MariaDB, in MySQL 8, and the previous name in both. */
const killing = ['CONNECTION ADMIN', 'CONNECTION_ADMIN', 'SUPER'];

const globalGrant = /^GRANT (.+) ON \*\.\* TO (.+)$/;

/** The rights on everything that lines of `SHOW GRANTS` give. */
export function globalRights(lines: readonly string[]): ReadonlySet<string> {
  const rights = new Set<string>();
  for (const line of lines) {
    const [, list, rest] = globalGrant.exec(line) ?? [];
    if (list === undefined || rest === undefined) continue;
    for (const right of list.split(/,\s*/)) rights.add(right.toUpperCase());
    if (/ WITH (?:.* )?GRANT OPTION/.test(rest)) rights.add('GRANT OPTION');
  }
  return rights;
}

/** The privileges that an administrator lacks, each with its use; empty when nothing is missing. */
export function missingRights(lines: readonly string[]): readonly string[] {
  const has = globalRights(lines);
  const all = has.has('ALL PRIVILEGES');
  const missing = needed.filter(([right]) => !(has.has(right) || (all && right !== 'GRANT OPTION')));
  const words = missing.map(([right, use]) => `${right} (${use})`);
  if (!all && !killing.some((right) => has.has(right))) words.push('CONNECTION ADMIN (end connections)');
  return words;
}
