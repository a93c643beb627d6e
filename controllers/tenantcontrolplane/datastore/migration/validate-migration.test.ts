import { describe, expect, test } from '@jest/globals';
import { annotations } from '../../../../api/names.ts';
import type { MigrationPhase } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { migrationWarnings, validateDeletion, validateMigration } from './validate-migration.ts';

const drivers = new Map([
  ['default', 'etcd'],
  ['other', 'PostgreSQL'],
  ['third', 'MySQL'],
]);

const share = { schema: 'a', user: 'a' };

/** A tenant whose data is in etcd, and on its way when a phase is given. */
function placed(phase?: MigrationPhase, changes: TenantControlPlaneChanges = {}): TenantControlPlane {
  const migration = phase && {
    phase,
    startedAt: '2030-01-01T00:00:00Z',
    source: { dataStoreName: 'default', ...share },
    target: { dataStoreName: 'other', ...share },
  };
  const storage = { dataStoreName: 'default', driver: 'etcd', setup: share, migration };
  return tenantControlPlaneWith({ ...changes, status: { storage } });
}

function errors(tcp: TenantControlPlane, dataStore: string, troubles = new Map<string, string>()): readonly string[] {
  const asked = { ...tcp, spec: { ...tcp.spec, dataStore } };
  return validateMigration({ tcp: asked, old: tcp, drivers, troubles }).map(
    ({ field, reason, remedy }) => `${field} ${reason}: ${remedy}`,
  );
}

describe('A request to migrate a tenant', () => {
  test.each(['other', 'third', 'default'])('is accepted for a usable datastore: %s', (name) => {
    expect(errors(placed(), name)).toEqual([]);
  });

  test('is refused for an unusable datastore', () => {
    expect(errors(placed(), 'other', new Map([['other', 'Reachable: no answer']]))).toEqual([
      'spec.dataStore names a DataStore that cannot be used (Reachable: no answer): repair it first, or use another one',
    ]);
  });

  test('is accepted if writes cannot be denied, with a warning of what happens then', () => {
    const old = placed(undefined, { kubernetes: { version: 'v1.29.3' }, spec: { dataStore: 'other' } });
    expect(errors(old, 'other')).toEqual([]);
    expect(migrationWarnings(old)).toEqual([
      expect.stringMatching(
        /^spec\.dataStore: Kubernetes v1\.29\.3 cannot deny writes, so the API servers are stopped/,
      ),
    ]);
    const on = placed(undefined, { kubernetes: { version: 'v1.30.1' }, spec: { dataStore: 'other' } });
    const kubernetesResources = { version: { status: 'Ready', version: 'v1.29.3' } } as const;
    expect(migrationWarnings({ ...on, status: { ...on.status, kubernetesResources } }).join()).toContain('v1.29.3');
  });

  test('has no warning if writes can be denied, if the data stays, and once it is known', () => {
    const old = { kubernetes: { version: 'v1.29.3' } } as const;
    for (const tcp of [
      placed(undefined, { kubernetes: { version: 'v1.30.0' }, spec: { dataStore: 'other' } }),
      placed(undefined, { ...old, spec: { dataStore: 'default' } }),
      placed('Copying', { ...old, spec: { dataStore: 'other' } }),
      tenantControlPlaneWith({ ...old, spec: { dataStore: 'other' } }),
    ])
      expect(migrationWarnings(tcp)).toEqual([]);
  });

  test('is refused if the data is bound to its keys', () => {
    const args = { apiServer: ['--encryption-provider-config=/etc/x.yaml'] };
    const encrypted = placed(undefined, { deployment: { extraArgs: args } });
    expect(errors(encrypted, 'other').join()).toContain('--encryption-provider-config');
  });

  test.each([
    ['aesgcm/generated-1', true],
    ['kms/vault', true],
    ['secretbox/generated-1', false],
    ['aescbc/first', false],
  ])('while stored data may be encrypted with %s is refused: %s', (provider, isRefused) => {
    const tcp = placed(undefined);
    const resources = [{ resource: 'secrets', writes: 'secretbox/generated-2', reads: [provider] }];
    const encryption = { revision: 1, step: 'Rewriting', distributed: true, resources } as const;
    const found = errors({ ...tcp, status: { ...tcp.status, encryption } }, 'other').join();
    expect(found.includes(`encrypted with ${provider}`)).toBe(isRefused);
  });

  test('is checked only while it is new, and only for tenants with data', () => {
    const moving = placed('Copying');
    const same = { ...moving, spec: { ...moving.spec, dataStore: 'other' } };
    const troubles = new Map([['other', 'gone']]);
    expect(validateMigration({ tcp: same, old: same, drivers, troubles })).toEqual([]);
    expect(errors(tenantControlPlaneWith(), 'other', troubles)).toEqual([]);
  });
});

describe('A running migration', () => {
  const to = (phase: MigrationPhase, name: string): readonly string[] => {
    const tcp = placed(phase);
    return errors({ ...tcp, spec: { ...tcp.spec, dataStore: 'other' } }, name);
  };

  test.each(['Preparing', 'Copying', 'StoppingWrites', 'Switching', 'RollingBack'] as const)(
    'can be canceled in %s',
    (phase) => {
      expect(to(phase, 'default')).toEqual([]);
    },
  );

  test.each(['ResumingWrites', 'Revoking'] as const)('cannot be canceled anymore in %s', (phase) => {
    expect(to(phase, 'default').join()).toContain('wait for the migration to finish');
  });

  test('cannot get another target', () => {
    expect(to('Copying', 'third')).toEqual([
      'spec.dataStore cannot be chosen while the data is being migrated from default to other: wait for the migration to finish, or set it to default to cancel the migration',
    ]);
  });

  test('excludes a change of the version', () => {
    const old = placed('Copying');
    const tcp = { ...old, spec: { ...old.spec, kubernetes: { ...old.spec.kubernetes, version: 'v1.36.4' } } };
    const found = validateMigration({ tcp, old, drivers, troubles: new Map() });
    expect(found.map(({ field }) => field)).toEqual(['spec.kubernetes.version']);
  });
});

test('allows to revert a held version', () => {
  const moving = placed('Copying', { kubernetes: { version: 'v1.36.3' } });
  const conditions = [
    { type: 'UpgradeAllowed', status: 'False', reason: 'MigrationInProgress', message: '', lastTransitionTime: '' },
  ] as const;
  const kubernetesResources = { version: { status: 'Ready', version: 'v1.35.4' } } as const;
  const old = { ...moving, status: { ...moving.status, conditions, kubernetesResources } };
  const to = (version: string): readonly unknown[] => {
    const tcp = { ...old, spec: { ...old.spec, kubernetes: { ...old.spec.kubernetes, version } } };
    return validateMigration({ tcp, old, drivers, troubles: new Map() });
  };
  expect(to('v1.35.4')).toEqual([]);
  expect(to('1.35.4')).toEqual([]);
  expect(to('v1.35.5')).toHaveLength(1);
});

describe('The deletion of a tenant', () => {
  const inState = (status: 'Migrating' | 'Ready', changes: TenantControlPlaneChanges = {}): TenantControlPlane => {
    const tcp = placed('Finishing', changes);
    return { ...tcp, status: { ...tcp.status, kubernetesResources: { version: { status } } } };
  };

  test('is refused while it is Migrating, with the fix', () => {
    expect(validateDeletion(inState('Migrating')).map(({ remedy }) => remedy)).toEqual([
      'try again in a moment, or set spec.dataStore back to default first',
    ]);
  });

  test('is accepted while the data is only copied, and if it is abandoned', () => {
    expect(validateDeletion(inState('Ready'))).toEqual([]);
    const metadata = { annotations: { [annotations.abandonData]: 'true' } };
    expect(validateDeletion(inState('Migrating', { metadata }))).toEqual([]);
  });
});
