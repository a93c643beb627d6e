import { describe, expect, test } from '@jest/globals';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { parseReported, statusReport } from './status-report.ts';

const key = { namespace: 'a', name: 'b' };
const { signal } = new AbortController();

async function clusterWithRestore(): Promise<{ readonly cluster: FakeCluster; readonly uid: string }> {
  const cluster = new FakeCluster();
  const { metadata } = await cluster.seed(tenantRestore, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantRestore',
    metadata: key,
    spec: { tenantControlPlaneName: 'shop', type: 'InPlace', source: { policyName: 'shop' } },
  });
  return { cluster, uid: metadata.uid };
}

describe('A report', () => {
  test('is written into status.process, where null removes a value', async () => {
    const { cluster, uid } = await clusterWithRestore();
    const report = statusReport({ kind: tenantRestore, key, uid }, { cluster, signal });
    await report({ step: 'Preparing', problem: 'no' });
    await report({ keys: 3, problem: null });
    const found = await cluster.admin.get(tenantRestore, key);
    expect(found?.status?.process).toEqual({ step: 'Preparing', keys: 3 });
  });

  test('is lost if its object is gone', async () => {
    const { cluster, uid } = await clusterWithRestore();
    await cluster.admin.delete(tenantRestore, key);
    const report = statusReport({ kind: tenantRestore, key, uid }, { cluster, signal });
    await expect(report({ step: 'Preparing' })).resolves.toBeUndefined();
  });

  test('is not lost if another one was written at the same time', async () => {
    const { cluster, uid } = await clusterWithRestore();
    const why = 'the object has been modified; please apply your changes to the latest version and try again';
    cluster.failNext({ verb: 'patch' }, new ApiError(409, 'Conflict', why));
    const report = statusReport({ kind: tenantRestore, key, uid }, { cluster, signal });
    await expect(report({ step: 'Preparing' })).rejects.toThrow('has been modified');
  });

  test('is not for another object of the same name', async () => {
    const { cluster } = await clusterWithRestore();
    const report = statusReport({ kind: tenantRestore, key, uid: 'of another' }, { cluster, signal });
    await expect(report({ step: 'Preparing' })).resolves.toBeUndefined();
    expect((await cluster.admin.get(tenantRestore, key))?.status?.process).toBeUndefined();
  });

  test.each(['', 'secrets/a/b/c', 'tenantrestores/a/b', 'tenantrestores/a/b/c/d', 'tenantrestores//b/c'])(
    'cannot be for "%s"',
    (text) => {
      expect(parseReported(text)).toBeUndefined();
    },
  );

  test('is for one object of a kind of backups', () => {
    expect(parseReported('tenantrestores/a/b/c')).toEqual({ kind: tenantRestore, key, uid: 'c' });
  });
});
