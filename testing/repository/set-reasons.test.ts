import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { commonReasons, conditionTable } from '../../api/conditions.ts';
import type { ConditionKind } from '../../api/conditions.ts';
import type { ConditionRow } from '../../api/condition-row.ts';

const root = join(import.meta.dirname, '../..');

/** The folders with the code that sets the conditions of each kind. */
const foldersOf: Readonly<Record<ConditionKind, readonly string[]>> = {
  TenantControlPlane: ['controllers/tenantcontrolplane'],
  RetainedControlPlane: ['controllers/retainedcontrolplane'],
  DataStore: ['controllers/datastore'],
  KubeconfigGenerator: ['controllers/kubeconfiggenerator'],
  ControlPlanePool: ['controllers/controlplanepool'],
  ControlPlaneClaim: ['controllers/controlplaneclaim'],
  BackupPolicy: ['controllers/backuppolicy'],
  TenantBackup: ['controllers/tenantbackup'],
  TenantRestore: ['controllers/tenantrestore'],
  // Its condition Restored takes over reasons of its TenantRestore, and Asleep those of its TenantControlPlane.
  StewardControlPlane: [
    'controllers/stewardcontrolplane',
    'controllers/tenantrestore',
    'controllers/tenantcontrolplane/sleep',
  ],
  ClusterStack: ['clusterstacks/controllers/clusterstack', 'clusterstacks/sources'],
  ClusterStackRelease: ['clusterstacks/controllers/clusterstackrelease', 'clusterstacks/sources'],
  ClusterAddon: ['clusterstacks/controllers/clusteraddon', 'clusterstacks/sources'],
};

/** Code that sets conditions of any kind. */
const shared = ['runtime', 'stores', 'kubeadm'];

const textOf = (folders: readonly string[]): string =>
  folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/*.test.ts'] }))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');

/** The reasons of a kind that no code sets. A contract condition is `Not` and its type when it does not hold. */
function unset(rows: Readonly<Record<string, ConditionRow>>, code: string): readonly string[] {
  const isSet = (reason: string): boolean =>
    code.includes(`'${reason}'`) ||
    (reason.startsWith('Not') && code.includes('`Not${') && code.includes(`'${reason.slice('Not'.length)}'`));
  return Object.entries(rows).flatMap(([type, { reasons }]) =>
    Object.keys(reasons)
      .filter((reason) => !isSet(reason))
      .map((reason) => `${type} ${reason}`),
  );
}

describe('The reasons of conditions', () => {
  const common = textOf(shared);

  test.each(Object.keys(conditionTable) as ConditionKind[])('of a %s are all set by code', (kind) => {
    expect(unset(conditionTable[kind], `${textOf(foldersOf[kind])}\n${common}`)).toEqual([]);
  });

  test('that every condition may have are all set by code', () => {
    const reasons = Object.fromEntries(Object.keys(commonReasons).map((reason) => [reason, '']));
    const code = `${common}\n${textOf(['controllers'])}`;
    expect(unset({ any: { meaning: '', polarity: 'positive', reasons } }, code)).toEqual([]);
  });

  test('that no code sets are found', () => {
    const row = { meaning: '', polarity: 'positive', reasons: { Set: '', NotSet: '', NotSoon: '' } } as const;
    expect(unset({ Some: row }, "reason: 'Set'")).toEqual(['Some NotSet', 'Some NotSoon']);
    expect(unset({ Some: row }, "state('Set', `Not${type}`)")).toEqual(['Some NotSoon']);
  });
});
