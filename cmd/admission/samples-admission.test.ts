import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlaneTemplate } from '../../api/controlplane/steward-control-plane-template.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { applyDefaults } from '../../api/structural/apply-defaults.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { createAdmissions } from './admissions.ts';

const root = join(import.meta.dirname, '../..');

/** Variables that have no default. */
const required: Readonly<Record<string, string>> = {
  KUBERNETES_VERSION: `v1.${newestMinor}.0`,
  CONTROL_PLANE_MACHINE_COUNT: '1',
  WORKER_MACHINE_COUNT: '1',
};

/** What a file says with all variables at their defaults. */
function manifestsIn(file: string): readonly Resource[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(
    /\$\{(\w+)(?::?=([^}]*))?\}/g,
    (_, name: string, given?: string) => given ?? required[name] ?? 'a',
  );
  return parseAllDocuments(text).map((document) => document.toJS() as Resource);
}

const kinds = [
  ...[stewardControlPlane, stewardControlPlaneTemplate, tenantControlPlane, dataStore],
  ...[controlPlanePool, controlPlaneClaim],
];
const found = ['templates', 'config/samples'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => manifestsIn(`${folder}/${name}`).map((manifest) => ({ file: `${folder}/${name}`, manifest }))),
);
const ours = found.flatMap(({ file, manifest }) => {
  const kind = kinds.find((each) => each.kind === manifest.kind);
  return kind === undefined ? [] : [{ file, kind, manifest }];
});

test.each(ours)('The $kind.kind in $file is admitted', async ({ kind, manifest }) => {
  const cluster = new FakeCluster({ allows: () => true });
  for (const store of ['default', 'events']) {
    const spec = { driver: 'etcd', endpoints: [`${store}:2379`] };
    await cluster.seed(dataStore, {
      apiVersion: apiVersionOf(dataStore),
      kind: 'DataStore',
      metadata: { name: store },
      spec,
    });
  }
  const admissions = createAdmissions({ cluster, defaultDataStore: '', newestMinor });
  const group = kind.group.replaceAll('.', '-');
  const handler = Object.entries(admissions).find(([path]) =>
    new RegExp(`^/validate-${group}-(v1alpha1-)?${kind.kind.toLowerCase()}$`).test(path),
  )?.[1];
  const { spec } = manifest as { readonly spec?: unknown };
  const metadata = { namespace: 'default', ...manifest.metadata };
  const object = { ...manifest, metadata, spec: applyDefaults(kind.spec.openapi, spec) } as Resource;
  const is = { group: kind.group, version: kind.version, kind: kind.kind };
  const signal = new AbortController().signal;
  const answer = await handler?.({ uid: '1', operation: 'CREATE', kind: is, object }, { signal });
  expect(answer).toMatchObject({ allowed: true });
});
