import type { Fault } from '../faults/fault.ts';
import { sumOf } from './play-result.ts';
import type { PlayResult } from './play-result.ts';

/** The last whole run of an operation, as it is kept. */
export interface RecordedPlay extends PlayResult {
  readonly commit: string;
  readonly date: string;
}

export interface ChaosResults {
  readonly operations: readonly RecordedPlay[];
}

const covered = [
  'Real are the controllers with their queues, caches, leader election and clients of tenants, and the programs of the Jobs that migrate,',
  'back up and restore. In memory are the API servers of the management cluster and of the tenant, two datastores, the repository of the',
  'backups, and all time. Deployments, kubelets and the controllers of the tenant are imitated.',
];

const uncovered = [
  'StewardControlPlanes and cluster stacks, whose unit tests kill the manager after each call;',
  'add-ons, encryption, datastore overrides and control planes on other clusters: the tenant of these runs has none;',
  'clones, restores into a StewardControlPlane, backup policies and rehearsals;',
  'the watches inside tenants that report drift, and the webhooks of the manager itself;',
  'faults of the servers themselves, such as a lost leader or a full disk;',
  'two faults in one run, and a user of the tenant who does several things at once.',
];

/** The page of the last recorded runs; `plays` are the names of all operations. */
export function chaosPage(
  { operations }: ChaosResults,
  { faults, plays }: { readonly faults: readonly Pick<Fault, 'name' | 'about'>[]; readonly plays: readonly string[] },
): string {
  const missing = plays.filter((name) => operations.every((one) => one.name !== name));
  const sums = operations.map((one) => ({ ...one, ...sumOf(one) }));
  const total = (of: (one: (typeof sums)[number]) => number): number => sums.reduce((sum, one) => sum + of(one), 0);
  const byFault = faults.map(({ name, about }) => {
    const found = operations.flatMap((one) => one.faults[name] ?? []);
    return `| \`${name}\` | ${about} | ${found.reduce((sum, { injected }) => sum + injected, 0)} |`;
  });
  return [
    '# Faults at every call',
    '',
    '<!-- Written by npm run test:chaos -- --record. -->',
    '',
    'What comes of an operation if something fails in the middle? `npm run test:chaos` plays each operation again and again, each time with one',
    'fault at one of its calls to an API server, a datastore or the repository of backups. Then it compares every object, user and tenancy that',
    'there is with what comes of the operation when nothing disturbs it, and reads back every write that a user of the tenant was',
    'acknowledged. CI runs a sample (`--short`). A breach is printed with the options that repeat it.',
    '',
    `Every fault at every call: ${total((one) => one.injected)} runs, breaches (${total((one) => one.breaches)}).`,
    '',
    '| Operation | What happens | Calls | Faults | Converged | Left over or doubled | Operations lost | Seed | Run at commit |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...sums.map(
      ({ name, about, calls, injected, converged, leftOver, lost, seed, commit, date }) =>
        `| \`${name}\` | ${about} | ${calls} | ${injected} | ${converged} | ${leftOver} | ${lost} | ${seed} | ${commit}, ${date} |`,
    ),
    '',
    ...(missing.length === 0
      ? []
      : [`No whole run has been recorded yet of ${missing.join(' and ')}: only samples have been run.`, '']),
    '| Fault | What happens at one call | Runs |',
    '| --- | --- | --- |',
    ...byFault,
    '',
    '## What is real, and what is not',
    '',
    ...covered,
    '',
    'Not covered are',
    '',
    ...uncovered.map((text) => `- ${text}`),
    '',
  ].join('\n');
}
