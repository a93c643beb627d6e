import type { ServerResult } from './server-results.ts';

/** The results of a whole run, as they are kept. */
export interface IsolationResults {
  readonly commit: string;
  readonly date: string;
  readonly servers: readonly ServerResult[];
}

/** The page of the last recorded run. */
export function isolationPage({ commit, date, servers }: IsolationResults): string {
  const sum = (of: (one: ServerResult) => number): number => servers.reduce((total, one) => total + of(one), 0);
  return [
    '# Attacks on datastores',
    '',
    '<!-- Written by npm run test:isolation -- --record. -->',
    '',
    'Does a datastore keep its tenants apart? `npm run test:isolation` starts real servers of each driver, makes tenants in them as the product',
    'does, and with the credentials of each one attacks another one, the keys between them and the server: also tenants whose names are alike,',
    'and with attempts that would harm others. Then it plants mistakes, such as a grant on too much, each of which the attacks must find. CI',
    'runs what the product does (`--short`); [Verify the isolation](../how-to/verify-isolation.md) is about that.',
    '',
    `Seen at commit ${commit} on ${date}: ${sum((one) => one.attempts)} attempts, breaches (${sum((one) => one.breaches)}); ${sum((one) => one.faults)} planted mistakes, ${sum((one) => one.faults - one.found)} missed.`,
    '',
    '| Driver | Server | Version | Attempts | Breaches | Mistakes planted | Found | A verification: ms | Bytes |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...servers.map(
      ({ driver, title, version, attempts, breaches, faults, found, ms, bytes }) =>
        `| ${[driver, title, version, attempts, breaches, faults, found, ms, bytes].join(' | ')} |`,
    ),
    '',
    'A verification is what the product does by itself. Its milliseconds are without those for which its programs waited for a processor.',
    '',
    'Not covered are MySQL, whose place MariaDB takes, limits of load, and the roles and accounts of other tenants that an administrator',
    'changed by hand in etcd or NATS.',
    '',
  ].join('\n');
}
