import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kinds } from '../../../api/core/kinds.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { patient } from '../../../testing/patient.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import { writeEtcdSecrets } from './bootstrap.ts';

const run = promisify(execFile);
const config = join(import.meta.dirname, '../../../config');
const namespace = 'steward-system';

test('a real API server accepts the shipped manifests, and their Role has exactly the permissions that the command needs', async () => {
  await using server = await startApiServer();
  const { kubectl } = await resolveTools(['kubectl']);
  const apply = async (...words: readonly string[]): Promise<string> =>
    (await run(kubectl, ['--kubeconfig', server.kubeconfigPath, 'apply', ...words])).stdout;
  const connection = parseKubeconfig(server.kubeconfig);
  const admin = openCluster(connection, { name: 'management' });
  // A service account is known by its name alone, however it proves it.
  const pair = await server.clientPair(`system:serviceaccount:${namespace}:etcd-bootstrap`);
  const job = openCluster({ ...connection, clientCert: pair.certificate, clientKey: pair.key }, { name: 'management' });
  try {
    await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await apply('--server-side', '-k', join(config, 'crd'));
    const established = ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=1m'];
    await run(kubectl, ['--kubeconfig', server.kubeconfigPath, ...established]);
    await apply('--server-side', '--dry-run=server', '-k', join(config, 'datastores/etcd-three-members'));
    await apply('-k', join(config, 'datastores/etcd'));
    expect((await admin.get(dataStore, { name: 'default' }))?.spec.endpoints).toHaveLength(1);

    const plan = { namespace, members: 1, clusterDomain: 'cluster.local' };
    const signal = AbortSignal.timeout(patient(30_000));
    const options = { plan, cluster: job, clock: systemClock, log: silent, signal };
    const first = await writeEtcdSecrets(options);
    expect(await writeEtcdSecrets(options)).toEqual(first);
    const body = { data: { 'tls.crt': '' } };
    await admin.patch(kinds.Secret, { namespace, name: 'etcd-server-certs' }, { type: 'merge', body });
    const renewed = await writeEtcdSecrets(options);
    expect(renewed.get('etcd-certs')).toEqual(first.get('etcd-certs'));
    expect(renewed.get('etcd-server-certs')?.['tls.crt']).not.toBe(first.get('etcd-server-certs')?.['tls.crt']);
    await expect(job.list(kinds.Secret, { namespace })).rejects.toMatchObject({ code: 403 });
    await expect(job.get(kinds.Secret, { namespace, name: 'other' })).rejects.toMatchObject({ code: 403 });
  } finally {
    await Promise.all([admin.close(), job.close()]);
  }
}, 120_000);
