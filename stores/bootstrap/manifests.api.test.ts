import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { kinds } from '../../api/core/kinds.ts';
import type { StatefulSet } from '../../api/core/kinds.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { patient } from '../../testing/patient.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { bootstrapServer } from './bootstrap-server.ts';

const run = promisify(execFile);
const config = join(import.meta.dirname, '../../config');
const documented = join(import.meta.dirname, '../../e2e/fixtures/user-manifests');
const namespace = 'steward-system';

/** Each folder of config/datastores with the DataStore that users have written for it. */
const quickStarts = [
  { folder: 'etcd-three-members', store: 'default', sample: 'etcd' },
  { folder: 'postgres', store: 'postgres-store', sample: 'postgresql' },
  { folder: 'mysql', store: 'mysql-store', sample: 'mysql' },
  { folder: 'nats', store: 'nats-store', sample: 'nats' },
] as const;
const variants = ['etcd', 'postgres-tls', 'mysql-tls', 'nats-accounts'] as const;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

describe('The quick-start datastores', () => {
  let server: ApiServer;
  let admin: Cluster;
  let kubectl: (...words: readonly string[]) => Promise<string>;

  beforeAll(async () => {
    server = await startApiServer();
    admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
    const tools = await resolveTools(['kubectl']);
    kubectl = async (...words) =>
      (await run(tools.kubectl, ['--kubeconfig', server.kubeconfigPath, ...words], { maxBuffer: 16 * 1024 * 1024 }))
        .stdout;
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await admin.create(kinds.Namespace, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels },
    });
    await kubectl('apply', '--server-side', '-k', join(config, 'crd'));
    await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=1m');
  }, 120_000);

  afterAll(async () => {
    await admin.close();
    await server.stop();
  });

  const built = async (folder: string): Promise<readonly Manifest[]> =>
    parseAllDocuments(await kubectl('kustomize', join(config, 'datastores', folder))).map(
      (document) => document.toJS() as Manifest,
    );

  test.each([...quickStarts.map(({ folder }) => folder), ...variants])(
    '%s is built and accepted by a real API server',
    async (folder) => {
      const apply = ['apply', '--server-side', '--dry-run=server', '-k', join(config, 'datastores', folder)];
      expect(await kubectl(...apply)).toMatch(/datastore\.steward\.butlerlabs\.dev\/\S+ serverside-applied/);
    },
    60_000,
  );

  test.each([...quickStarts.map(({ folder }) => folder), ...variants])(
    'every pod of %s is admitted at the Pod Security level restricted',
    async (folder) => {
      const templates = (await built(folder)).flatMap((manifest) => {
        const { kind, spec } = manifest as Manifest & Pick<StatefulSet, 'spec'>;
        return ['StatefulSet', 'Job'].includes(kind) && spec !== undefined ? [{ kind, template: spec.template }] : [];
      });
      expect(templates.map(({ kind }) => kind).sort()).toEqual(['Job', 'StatefulSet']);
      for (const { kind, template } of templates) {
        // Claims become volumes only where a controller makes the pod.
        const data = { name: 'data', emptyDir: {} };
        const volumes = [...(template.spec?.volumes ?? []), ...(kind === 'Job' ? [] : [data])];
        const metadata = { name: `${folder}-${kind.toLowerCase()}`, namespace };
        const spec = Object.assign({ containers: [] }, template.spec, { volumes });
        const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
        await expect(admin.create(kinds.Pod, pod, { dryRun: true })).resolves.toBeDefined();
      }
    },
    60_000,
  );

  test.each(quickStarts)(
    'the DataStore in $folder equals the sample, and it is the one of the documentation',
    async ({ folder, store, sample }) => {
      const quickStart = (await built(folder)).find(({ kind }) => kind === dataStore.kind) as DataStore | undefined;
      const read = async (path: string) => parse(await readFile(path, 'utf8')) as DataStore;
      const shipped = await read(join(config, `samples/steward_v1alpha1_datastore_${sample}.yaml`));
      expect(quickStart).toEqual(shipped);
      expect(shipped.metadata.name).toBe(store);
      const { spec, ...theirs } = await read(join(documented, `datastore-${store}.yaml`));
      // Ours is what the members of an etcd need besides.
      const ours = sample === 'etcd' ? { etcd: { compaction: {}, defragmentation: {} } } : {};
      expect(shipped).toEqual({ ...theirs, spec: { ...spec, ...ours } });
    },
  );

  test.each(['postgres', 'mysql', 'nats'])(
    'the Role of %s has exactly the permissions that its command needs, and the StatefulSet mounts the Secrets of that command',
    async (name) => {
      await kubectl('apply', '-k', join(config, 'datastores', name));
      // A service account is known by its name alone, however it proves it.
      const pair = await server.clientPair(`system:serviceaccount:${namespace}:${name}-bootstrap`);
      const connection = parseKubeconfig(server.kubeconfig);
      const own = { ...connection, clientCert: pair.certificate, clientKey: pair.key };
      const job = openCluster(own, { name: 'management' });
      try {
        const plan = { name, administrator: 'anybody', namespace, clusterDomain: 'cluster.local' };
        const signal = AbortSignal.timeout(patient(30_000));
        const options = { plan, cluster: job, clock: systemClock, log: silent, signal };
        const first = await bootstrapServer(options);
        expect(await bootstrapServer(options)).toEqual(first);
        const body = { data: { 'tls.crt': '' } };
        await admin.patch(kinds.Secret, { namespace, name: `${name}-server-certs` }, { type: 'merge', body });
        expect((await bootstrapServer(options)).get(`${name}-credentials`)).toEqual(first.get(`${name}-credentials`));
        await expect(job.list(kinds.Secret, { namespace })).rejects.toMatchObject({ code: 403 });
        await expect(job.get(kinds.Secret, { namespace, name: 'other' })).rejects.toMatchObject({ code: 403 });

        const set = await admin.get(kinds.StatefulSet, { namespace, name });
        const { volumes = [], containers = [] } = set?.spec?.template.spec ?? {};
        const mounted = volumes.flatMap(({ secret }) => secret?.secretName ?? []);
        const read = containers.flatMap(({ env = [] }) =>
          env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
        );
        const given = name === 'nats' ? [`${name}-credentials`] : [`${name}-credentials`, `${name}-server-certs`];
        expect([...new Set([...mounted, ...read])].sort()).toEqual(given);
      } finally {
        await job.close();
      }
    },
    60_000,
  );
});
