import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { apiVersionOf } from '../../../api/meta.ts';
import type { Key, KindRef, Resource } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { patient } from '../../../testing/patient.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { kubernetesEndpoints } from './kubernetes-endpoints.ts';
import { fieldManager } from '../dependencies.ts';
import { endpointKinds } from '../shared/tenant-kinds.ts';

const address = '192.0.2.1';
const key: Key = { namespace: 'default', name: 'kubernetes' };

let server: ApiServer;
let admin: Cluster;

beforeAll(async () => {
  // One that keeps the endpoints itself, as those of before did.
  server = await startApiServer({
    rbac: false,
    flags: { 'endpoint-reconciler-type': 'lease', 'advertise-address': address },
  });
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
}, 180_000);

afterAll(async () => {
  await admin.close();
  await server.stop();
}, 60_000);

/** The object as soon as the API server has made it, which it does shortly after it answers. */
async function made(kind: KindRef): Promise<Resource> {
  const fieldSelector = 'metadata.name=kubernetes';
  const { items, resourceVersion } = await admin.list<Resource>(kind, { namespace: 'default', fieldSelector });
  if (items[0] !== undefined) return items[0];
  const signal = AbortSignal.timeout(patient(60_000));
  for await (const event of admin.watch(kind, { namespace: 'default', fieldSelector, resourceVersion, signal })) {
    if (event.type === 'ADDED') return event.object;
  }
  throw new Error(`there is no ${kind.kind} kubernetes`);
}

/** What matters to those who read it. */
function content({ metadata, ...rest }: Resource): unknown {
  return { ...rest, labels: metadata.labels };
}

test.each(endpointKinds.map((kind) => [kind.kind, kind] as const))(
  'the manager writes to the Service kubernetes exactly what an API server itself writes: %s',
  async (_, kind) => {
    const before = await made(kind);
    const { port } = new URL(server.url);
    const at = { address, port: Number(port), host: address, hostPort: Number(port) };
    const manifests = kubernetesEndpoints({ tcp: tenantControlPlaneWith(), endpoint: at });
    const manifest = manifests.find((one) => one.kind === kind.kind);
    if (manifest === undefined) throw new Error(`${kind.kind} is not made`);
    expect(manifest.apiVersion).toBe(apiVersionOf(kind));
    const after = await admin.apply<Resource>(kind, manifest, { fieldManager });
    expect(content(after)).toEqual(content(before));
    expect((await admin.get<Resource>(kind, key))?.metadata.uid).toBe(before.metadata.uid);
  },
);
