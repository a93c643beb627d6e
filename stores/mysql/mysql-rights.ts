/** What this driver does with each right, so that a person sees why it is asked for. */
const needed: readonly (readonly [right: string, use: string])[] = [
  ['SELECT', 'copy a tenant'],
  ['INSERT', 'fill a tenant that is migrated, record owners'],
  ['UPDATE', 'fill a tenant that is migrated, record owners'],
  ['DELETE', 'record owners'],
  ['CREATE', 'make databases'],
  ['ALTER', 'bring the table of a tenant that is taken over up to date'],
  ['DROP', 'remove databases'],
  ['TRIGGER', 'see what is in the database of a tenant that is taken over'],
  ['EVENT', 'see what is in the database of a tenant that is taken over'],
  ['LOCK TABLES', 'wait for writes under way'],
  ['PROCESS', 'find the connections of a removed tenant'],
  ['CREATE USER', 'make accounts'],
  ['GRANT OPTION', 'let accounts have their table'],
];

/** Ends connections of others: MariaDB, MySQL 8, and the old name for either. */
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

/** What an administrator lacks, each with what it is for; empty when nothing is missing. */
export function missingRights(lines: readonly string[]): readonly string[] {
  const has = globalRights(lines);
  const all = has.has('ALL PRIVILEGES');
  const missing = needed.filter(([right]) => !(has.has(right) || (all && right !== 'GRANT OPTION')));
  const words = missing.map(([right, use]) => `${right} (${use})`);
  if (!all && !killing.some((right) => has.has(right))) words.push('CONNECTION ADMIN (end connections)');
  return words;
}
