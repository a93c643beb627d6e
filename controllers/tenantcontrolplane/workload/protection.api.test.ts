import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { fieldManager } from '../dependencies.ts';
import { deployment } from './deployment.ts';
import { networkPolicy } from './network-policy.ts';
import type { ManagementApi } from './network-policy.ts';
import { horizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';
import { podDisruptionBudget } from './pod-disruption-budget.ts';
import { managementApiOf } from './management-api.ts';

let server: ApiServer;
let admin: Cluster;

beforeAll(async () => {
  server = await startApiServer({
    rbac: false,
    flags: { 'endpoint-reconciler-type': 'lease', 'advertise-address': '192.0.2.1' },
  });
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
}, 180_000);

afterAll(async () => {
  await admin.close();
  await server.stop();
});

const tcp = tenantControlPlaneWith({
  deployment: {
    priorityClassName: 'system-cluster-critical',
    additionalContainers: [
      { name: 'mine', image: 'x', ports: [{ name: 'metrics', containerPort: 9100, protocol: 'TCP' }] },
    ],
  },
  service: { additionalPorts: [{ name: 'metrics', protocol: 'TCP', port: 80, targetPort: 'metrics' }] },
});

const scaled = tenantControlPlaneWith({
  deployment: {
    resources: { apiServer: { requests: { cpu: '100m' } } },
    autoscaling: {
      minReplicas: 1,
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 80,
      targetInFlightRequests: 150,
      behavior: {
        scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }], stabilizationWindowSeconds: 30 },
        scaleDown: { stabilizationWindowSeconds: 600, selectPolicy: 'Min' },
      },
    },
  },
});

const made = (of: TenantControlPlane, present?: Deployment): Manifest =>
  deployment({
    tcp: of,
    present,
    version: parseVersion('v1.36.3'),
    endpoint: { address: '192.0.2.7', port: 6443, host: '192.0.2.7', hostPort: 6443 },
    store: { kind: 'etcd', endpoints: ['https://a:2379'], prefix: '/tabc' },
    dataStoreName: 'default',
    kineImage: 'rancher/kine:v0.16.4',
    checksums: {},
    storageChecksum: 'cc',
  });

/** Applied twice: what the API server stores, and whether the second time changed something. */
async function stored(kind: KindRef, [manifest]: readonly Manifest[]): Promise<readonly [Resource, boolean]> {
  if (manifest === undefined) throw new Error('nothing was made');
  const apply = (): Promise<Resource> => admin.apply(kind, manifest, { fieldManager: 'test' });
  const [first, second] = [await apply(), await apply()];
  return [first, first.metadata.resourceVersion !== second.metadata.resourceVersion];
}

/** A young API server first writes its Service and, after that, who serves it. */
async function whereItIs(): Promise<ManagementApi> {
  for (;;) {
    const found = await managementApiOf(admin, systemClock)();
    if (found.hosts.length > 0 && found.serviceAddresses.length > 0) return found;
  }
}

/** As a request has it: without fields that are undefined. */
const asSent = (spec: unknown): unknown => JSON.parse(JSON.stringify(spec));

describe('A real API server', () => {
  test('reports its address, accepts the network policy that keeps pods from it, and gets no writes afterwards', async () => {
    const management = await whereItIs();
    expect(management.serviceAddresses).toEqual(['10.96.0.1']);
    expect(management.hosts).toEqual([{ address: '192.0.2.1', port: expect.any(Number) }]);
    const hosts = [...management.hosts, { address: 'fd00::7', port: 6443 }];
    const manifests = networkPolicy({
      tcp,
      port: 6443,
      service: { apiVersion: 'v1', kind: 'Service', metadata: storedMeta({}) },
      storePorts: [2379],
      management: { ...management, hosts },
      isMonitored: true,
    });
    const [policy, changed] = await stored(kinds.NetworkPolicy, manifests);
    expect(changed).toBe(false);
    // It dropped only what it did not understand.
    expect(policy).toMatchObject({ spec: asSent(manifests[0]?.spec) });
    expect(JSON.stringify(policy)).toContain(`"${management.serviceAddresses[0] ?? ''}/32"`);
  });

  test('accepts the PodDisruptionBudget, and gets no writes afterwards', async () => {
    const manifests = podDisruptionBudget(tcp);
    const [budget, changed] = await stored(kinds.PodDisruptionBudget, manifests);
    expect(changed).toBe(false);
    expect(budget).toMatchObject({ spec: asSent(manifests[0]?.spec) });
  });

  test('accepts the HorizontalPodAutoscaler, and gets no writes afterwards', async () => {
    const manifests = horizontalPodAutoscaler(scaled);
    const [autoscaler, changed] = await stored(kinds.HorizontalPodAutoscaler, manifests);
    expect(changed).toBe(false);
    expect(autoscaler).toMatchObject({ spec: asSent(manifests[0]?.spec) });
  });

  test('keeps the replicas that an autoscaler has set when the Deployment is applied again', async () => {
    const named = { ...scaled, metadata: { ...scaled.metadata, name: 'scaled' } };
    const fixed = { ...tcp, metadata: named.metadata };
    const key = { namespace: 'default', name: 'scaled' };
    /** As a reconcile does: what there is decides what is sent. */
    const reconciled = async (wanted: TenantControlPlane): Promise<number | undefined> => {
      const manifest = made(wanted, await admin.get(kinds.Deployment, key));
      return (await admin.apply<Deployment>(kinds.Deployment, manifest, { fieldManager })).spec?.replicas;
    };
    const scaledTo = async (replicas: number): Promise<void> => {
      const options = { subresource: 'scale', fieldManager: 'kube-controller-manager' } as const;
      await admin.patch(kinds.Deployment, key, { type: 'merge', body: { spec: { replicas } } }, options);
    };
    expect([await reconciled(named), await reconciled(named)]).toEqual([2, 2]);
    await scaledTo(4);
    expect([await reconciled(named), await reconciled(named)]).toEqual([4, 4]);
    expect(await reconciled(fixed)).toBe(2);
    expect([await reconciled(named), await reconciled(named)]).toEqual([2, 2]);
    await scaledTo(3);
    const { deployment: given } = named.spec.controlPlane;
    const asleep = {
      ...named.spec,
      controlPlane: { ...named.spec.controlPlane, deployment: { ...given, replicas: 0 } },
    };
    expect(await reconciled({ ...named, spec: asleep })).toBe(0);
    expect([await reconciled(named), await reconciled(named)]).toEqual([2, 2]);
  });

  test('accepts pods with a spread over nodes and a priority class, and gets no writes afterwards', async () => {
    const manifest = made(tcp);
    const [found, changed] = await stored(kinds.Deployment, [manifest]);
    expect(changed).toBe(false);
    expect(found).toMatchObject({ spec: asSent(manifest.spec) });
  });
});
