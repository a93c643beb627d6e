import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { noBlockerWatches } from '../../../testing/fake/no-blocker-watches.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { definitionsOf } from '../../../testing/builders/infrastructure/definitions.ts';
import { infrastructureProviders } from '../../../testing/builders/infrastructure/providers.ts';
import { access } from '../access.ts';
import type { InfrastructureCluster } from './infrastructure-patch.ts';
import { infrastructurePhase } from './infrastructure-phase.ts';

const group = 'infrastructure.cluster.x-k8s.io';
const key = { namespace: 'default', name: 'a' };
const hetzner: KindRef<InfrastructureCluster> = {
  ...{ group, version: 'v1beta1', kind: 'HetznerCluster', plural: 'hetznerclusters', namespaced: true },
};
const rights = { apiGroups: [group], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch'] };
const endpoint = { host: '203.0.113.9', port: 6443 };
const ready = {
  status: {
    conditions: [{ type: 'TenantConfigured', status: 'True' }],
    kubernetesResources: { version: { status: 'Ready' }, deployment: { readyReplicas: 1 } },
  },
} as unknown as TenantControlPlane;
const ctx: Context = {
  ...{ signal: new AbortController().signal, now: new Date(0), log: silent, event: () => undefined },
};

const scpOf = (more: { annotations?: Record<string, string>; certSANs?: readonly string[] } = {}) =>
  ({
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: { ...key, annotations: more.annotations ?? {} },
    spec: { version: 'v1.36.3', network: { certSANs: more.certSANs ?? [] } },
  }) as unknown as StewardControlPlane;

const clusterOf = (spec: object = {}, kind = 'HetznerCluster') =>
  ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: key,
    spec: { infrastructureRef: { apiGroup: group, kind, name: 'a' }, ...spec },
  }) as CapiCluster;

describe('An infrastructure cluster', () => {
  let server: FakeCluster;
  let told: string[];

  beforeEach(() => {
    server = new FakeCluster({ access: [...access, rights] });
    told = [];
  });

  const reconcile = (cluster = clusterOf(), scp = scpOf(), from = server, tenant = ready) => {
    const infrastructure = {
      follow: () => void told.push('follow'),
      leave: () => void told.push('leave'),
      watchFailure: () => undefined,
    };
    return infrastructurePhase({ cluster: from, watchFilter: '', blockers: noBlockerWatches, infrastructure }).run(
      { scp, cluster, tenant, endpoint },
      ctx,
    );
  };
  const define = async (to = server): Promise<void> => {
    for (const provider of infrastructureProviders) {
      const [definition] = definitionsOf(provider);
      if (definition !== undefined) await to.seed(kinds.CustomResourceDefinition, definition);
    }
  };
  const seed = (spec: object = {}, to = server) =>
    to.seed(hetzner, { apiVersion: `${group}/v1beta1`, kind: 'HetznerCluster', metadata: key, spec });
  const written = (): readonly string[] => server.calls.filter(({ verb }) => verb === 'patch').map(({ verb }) => verb);

  test('of an undefined kind is awaited by name, and its definition is watched', async () => {
    expect(await reconcile()).toEqual({
      is: 'waiting',
      reason: 'KindNotFound',
      message: expect.stringContaining('no CustomResourceDefinition hetznerclusters.infrastructure.cluster.x-k8s.io'),
    });
    expect(told).toEqual(['follow']);
  });

  test('that does not exist is awaited by name, without polling', async () => {
    await define();
    expect(await reconcile()).toEqual({
      is: 'waiting',
      reason: 'NotFound',
      message: expect.stringMatching(/HetznerCluster a, which the Cluster names, does not exist/),
    });
  });

  test('is written once, and a second reconcile writes nothing', async () => {
    await define();
    await seed();
    expect(await reconcile()).toEqual({ is: 'done' });
    expect((await server.admin.get(hetzner, key))?.spec?.controlPlaneEndpoint).toEqual(endpoint);
    expect(await reconcile()).toEqual({ is: 'done' });
    expect(written()).toHaveLength(1);
  });

  test('that has the endpoint from its user is not written', async () => {
    await define();
    await seed({ controlPlaneEndpoint: endpoint });
    expect(await reconcile()).toEqual({ is: 'done' });
    expect(written()).toEqual([]);
  });

  test('with another endpoint is not changed, and the fix is named', async () => {
    await define();
    await seed({ controlPlaneEndpoint: { host: 'lb.example.com', port: 443 } });
    const outcome = await reconcile();
    expect(outcome).toMatchObject({ is: 'waiting', reason: 'EndpointMismatch' });
    expect(outcome).not.toHaveProperty('afterMs');
    expect(outcome.message).toMatch(
      /the endpoint lb\.example\.com:443, but the endpoint of the control plane is 203\.0\.113\.9:6443.*serviceAddress.*controlPlaneLoadBalancer\.enabled: false/,
    );
    expect(written()).toEqual([]);
  });

  test('that may not be read or written is reported with the full ClusterRole, and retried later', async () => {
    const poor = new FakeCluster({ access });
    await define(poor);
    await seed({}, poor);
    const outcome = await reconcile(clusterOf(), scpOf(), poor);
    expect(outcome).toMatchObject({ is: 'waiting', reason: 'Forbidden', afterMs: expect.any(Number) });
    expect(outcome.message).toContain(
      'steward.butlerlabs.dev/aggregate-to-manager: "true" with apiGroups: ["infrastructure.cluster.x-k8s.io"], resources: [hetznerclusters, hetznerclusters/status], verbs: [get, list, watch, patch]',
    );
  });

  test('is not needed if the Cluster references none, and nothing is watched', async () => {
    expect(await reconcile({ ...clusterOf(), spec: {} })).toMatchObject({ is: 'done' });
    expect(told).toEqual(['leave']);
  });

  test('is not changed if its control plane says so', async () => {
    await define();
    await seed();
    const scp = scpOf({ annotations: { 'steward.butlerlabs.dev/skip-infrastructure': '' } });
    const outcome = await reconcile(clusterOf(), scp);
    expect(outcome).toMatchObject({ is: 'done', message: expect.stringContaining('skip-infrastructure') });
    expect(written()).toEqual([]);
  });

  test('waits for a Cluster with another endpoint, unless the certificate is valid for it', async () => {
    await define();
    await seed();
    const preset = clusterOf({ controlPlaneEndpoint: { host: 'api.example.com', port: 443 } });
    const astray = await reconcile(preset);
    expect(astray).toMatchObject({ is: 'waiting', reason: 'EndpointMismatch' });
    expect(astray.message).toMatch(/api\.example\.com:443.*203\.0\.113\.9:6443.*certSANs/);
    expect(written()).toEqual([]);
    expect(await reconcile(preset, scpOf({ certSANs: ['api.example.com'] }))).toEqual({ is: 'done' });
    expect((await server.admin.get(hetzner, key))?.spec?.controlPlaneEndpoint).toEqual({
      host: 'api.example.com',
      port: 443,
    });
  });
});
