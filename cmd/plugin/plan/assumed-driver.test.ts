import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { issueCa } from '../../../kubeadm/pki/issue.ts';
import { lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { newestMinor } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { seedManagementApi } from '../../../testing/worlds/management-api.ts';
import { drivers } from '../../controllers.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { planChange } from './plan-change.ts';
import { verifiedIsolation } from '../../../testing/builders/verified-isolation.ts';

const now = new Date('2030-01-01T00:00:00Z');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const namespace = 'datastores';

async function specOf(driver: string): Promise<object> {
  if (driver !== 'etcd') {
    const reference = (keyPath: string): object => ({ secretReference: { namespace, name: 'login', keyPath } });
    return {
      driver,
      endpoints: ['db.invalid:5432'],
      basicAuth: { username: reference('user'), password: reference('password') },
    };
  }
  const lifetime = lifetimeFrom(now, 365 * 24 * 60 * 60 * 1000);
  const ca = await issueCa({ commonName: 'etcd', ca: true, usages: [] }, { algorithm: 'ECDSA-P256', lifetime });
  const pair = { certificate: { content: base64(ca.certificate) }, privateKey: { content: base64(ca.key) } };
  return {
    driver,
    endpoints: ['etcd.invalid:2379'],
    tlsConfig: { certificateAuthority: pair, clientCertificate: pair },
  };
}

describe('A plan with a real driver', () => {
  test.each(['etcd', 'PostgreSQL', 'MySQL'])(
    'of %s connects to no datastore, and has everything that pods need',
    async (driver) => {
      const cluster = new FakeCluster({ now: () => now.getTime() });
      await seedManagementApi(cluster, ['192.0.2.250']);
      await cluster.seed(kinds.Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace, name: 'login' },
        data: { user: base64('admin'), password: base64('secret-of-the-administrator') },
      });
      await cluster.seed(dataStore, {
        apiVersion: 'steward.butlerlabs.dev/v1alpha1',
        kind: 'DataStore',
        metadata: { name: 'default' },
        spec: await specOf(driver),
        status: { conditions: [verifiedIsolation] },
      });
      const plan = await planChange({
        reader: clusterReader(cluster.admin),
        settings: { managerNamespace: 'steward-system', drivers, defaultDataStore: '', newestMinor },
        now,
        changed: tenantControlPlaneWith(),
      });
      expect(plan.refused).toBeUndefined();
      expect(plan.waits).toEqual([]);
      expect(plan.pods).toMatchObject({ action: 'start', to: 2 });
      expect(plan.objects.map(({ kind, name }) => `${kind}/${name}`)).toEqual(
        expect.arrayContaining([
          'Deployment/tenant',
          'Secret/tenant-datastore-config',
          'Secret/tenant-datastore-certificate',
        ]),
      );
      expect(JSON.stringify(plan)).not.toContain('secret-of-the-administrator');
    },
  );
});
