import { describe, expect, test } from '@jest/globals';
import { annotations } from '../../../../api/names.ts';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { migrationJobManifest } from './migration-job.ts';

const migration: MigrationStatus = {
  phase: 'Preparing',
  startedAt: '2030-01-01T00:00:00.000Z',
  source: { dataStoreName: 'default' },
  target: { dataStoreName: 'other' },
};

interface JobSpec {
  readonly podReplacementPolicy: string;
  readonly template: {
    readonly spec: {
      readonly containers: readonly { readonly args: readonly string[] }[];
      readonly initContainers?: readonly object[];
      readonly affinity?: object;
    };
  };
}

function jobOf(
  values: Readonly<Record<string, string>> = {},
  kine: { readonly kineImage?: string } = {},
): { metadata: unknown; spec: JobSpec } {
  const tcp = tenantControlPlaneWith({ metadata: { name: 'a', namespace: 'b', uid: 'c', annotations: values } });
  const settings = {
    namespace: 'steward-system',
    image: 'steward:1',
    serviceAccount: 'steward-migrate',
    ...kine,
  };
  const { metadata, spec } = migrationJobManifest(tcp, migration, settings);
  return { metadata, spec: spec as JobSpec };
}

const argumentsOf = (values: Readonly<Record<string, string>> = {}): readonly string[] | undefined =>
  jobOf(values).spec.template.spec.containers[0]?.args;

describe('The Job of a migration', () => {
  test('has the name, the labels and the arguments of the Go Steward', () => {
    expect(jobOf().metadata).toMatchObject({
      name: 'migrate-c',
      namespace: 'steward-system',
      labels: {
        'steward.butlerlabs.dev/component': 'migrate',
        'tcp.steward.butlerlabs.dev/name': 'a',
        'tcp.steward.butlerlabs.dev/namespace': 'b',
      },
    });
    expect(argumentsOf()).toEqual(['migrate', '--tenant-control-plane=b/a', '--target-datastore=other']);
  });

  test('passes on what annotations request, except an invalid duration', () => {
    const asked = { [annotations.cleanupPriorMigration]: 'true', [annotations.migrationTimeout]: '90m' };
    expect(argumentsOf(asked)?.slice(3)).toEqual(['--cleanup-prior-migration=true', '--timeout=90m']);
    expect(argumentsOf({ [annotations.migrationTimeout]: 'soon' })).toHaveLength(3);
    expect(argumentsOf({ [annotations.cleanupPriorMigration]: 'no' })?.slice(3)).toEqual([
      '--cleanup-prior-migration=false',
    ]);
  });

  test('has no owner in another namespace, and never two pods at once', () => {
    expect(jobOf().metadata).not.toHaveProperty('ownerReferences');
    expect(jobOf().spec.podReplacementPolicy).toBe('Failed');
  });

  test('pulls the image of kine where the pods of the tenant will need it', () => {
    expect(jobOf().spec.template.spec).not.toHaveProperty('initContainers');
    expect(jobOf().spec.template.spec).not.toHaveProperty('affinity');
    const { initContainers, affinity } = jobOf({}, { kineImage: 'kine:1' }).spec.template.spec;
    expect(initContainers).toMatchObject([{ name: 'kine', image: 'kine:1', args: ['--version'] }]);
    expect(JSON.stringify(affinity)).toContain('"namespaces":["b"]');
    expect(JSON.stringify(affinity)).toContain('"matchLabels":{"steward.butlerlabs.dev/name":"a"}');
  });
});
