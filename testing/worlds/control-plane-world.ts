import { capiCluster } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Condition, Draft, Key } from '../../api/meta.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { access } from '../../controllers/stewardcontrolplane/access.ts';
import { stewardControlPlaneController } from '../../controllers/stewardcontrolplane/controller.ts';
import type { Follower } from '../../controllers/stewardcontrolplane/infrastructure/follower.ts';
import type { Blocker } from '../../controllers/stewardcontrolplane/infrastructure/blocker-watches.ts';
import { strippedSpec } from '../builders/stripped-field.ts';
import type { Context, Controller, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { mergePatchOf } from '../../runtime/client/merge-patch-of.ts';
import { noInfrastructureWatches } from '../fake/no-infrastructure-watches.ts';
import { noBlockerWatches } from '../fake/no-blocker-watches.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';

/** The name of everything in a `ControlPlaneWorld`. */
export const key = { namespace: 'default', name: 'my-cluster' };

/** An infrastructure cluster of an unknown kind. */
export const infraKind = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'AnyCluster',
  plural: 'anyclusters',
  namespaced: true,
} as const;

const infraRights = { apiGroups: [infraKind.group], resources: ['*'], verbs: ['get', 'patch'] };

/** A condition as somebody else reports it. */
export function conditionNow(type: string, status: string): Condition {
  return { type, status, reason: 'X', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' } as Condition;
}

/** One condition of a status. */
export function conditionOf(status: StewardControlPlane['status'], type: string): Condition | undefined {
  return status?.conditions?.find((each) => each.type === type);
}

/** A Secret that the TenantControlPlane has made; data in base64. */
export function tenantSecret(name: string, data: object): Draft {
  const owner = {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    name: key.name,
    uid: 't',
    controller: true,
  };
  const metadata = { namespace: 'default', name, ownerReferences: [owner] };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data } as Draft;
}

/** A management cluster in memory with an infrastructure cluster and only the controller of StewardControlPlanes. */
export class ControlPlaneWorld {
  readonly server: FakeCluster;
  controller: Controller<StewardControlPlane>;
  /** What the watch on Secrets would have seen. */
  readonly #isLabeled = async (secret: Key): Promise<boolean> =>
    (await this.server.admin.get(kinds.Secret, secret))?.metadata.labels?.[clusterNameLabel] !== undefined;
  ctx: Context;

  private constructor() {
    const now = new Date('2026-01-01T00:00:00Z');
    this.ctx = { signal: new AbortController().signal, now, log: silent, event: () => undefined };
    this.server = new FakeCluster({
      access: [...access, infraRights],
      collectsGarbage: false,
      now: () => this.ctx.now.getTime(),
    });
    const deaf = { infrastructure: noInfrastructureWatches, blockers: noBlockerWatches };
    const isLabeled = this.#isLabeled;
    this.controller = stewardControlPlaneController({ cluster: this.server, watchFilter: '', isLabeled, ...deaf });
  }

  static async create(): Promise<ControlPlaneWorld> {
    const world = new ControlPlaneWorld();
    const names = { kind: infraKind.kind, plural: infraKind.plural };
    await world.server.seed(kinds.CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `anyclusters.${infraKind.group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta1' } },
      spec: { group: infraKind.group, scope: 'Namespaced', names },
    });
    const apiVersion = `${infraKind.group}/v1beta1`;
    await world.server.seed(infraKind, { apiVersion, kind: infraKind.kind, metadata: key, spec: {} });
    return world;
  }

  /** From now on TenantRestores are served. */
  servesBackups(): void {
    const deaf = { infrastructure: noInfrastructureWatches, blockers: noBlockerWatches };
    this.controller = stewardControlPlaneController({ cluster: this.server, watchFilter: '', backups: true, ...deaf });
  }

  /** From now on blockers are watched. */
  hears(follow: (blockers: readonly Blocker[]) => void): void {
    const blockers = {
      follow: (_controlPlane: Follower, list: readonly Blocker[]) => {
        follow(list);
      },
      isUnwatched: () => false,
    };
    const deps = { cluster: this.server, watchFilter: '', infrastructure: noInfrastructureWatches, blockers };
    this.controller = stewardControlPlaneController(deps);
  }

  /** From now on it is this time. */
  at(now: Date): void {
    this.ctx = { ...this.ctx, now };
  }

  async seedCluster(spec: object = {}): Promise<void> {
    await this.server.seed(capiCluster, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: key,
      spec: {
        infrastructureRef: { apiGroup: infraKind.group, kind: infraKind.kind, name: key.name },
        controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: key.name },
        clusterNetwork: { services: { cidrBlocks: ['10.112.0.0/16'] }, pods: { cidrBlocks: ['10.128.0.0/16'] } },
        ...spec,
      },
    });
  }

  seed(metadata: object = {}, spec: object = {}): Promise<StewardControlPlane> {
    return this.server.seed(stewardControlPlane, {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: 'StewardControlPlane',
      metadata: {
        ...key,
        ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: key.name, uid: 'u' }],
        ...metadata,
      },
      spec: strippedSpec({
        version: '1.36.3',
        replicas: 2,
        registry: 'registry.k8s.io',
        kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' },
        network: { serviceType: 'NodePort' },
        addons: { coreDNS: { dnsServiceIPs: ['10.112.0.99'] } },
        ...spec,
      }),
    });
  }

  /** One reconcile, with its status written. */
  async reconcile(): Promise<ReconcileResult<StewardControlPlane>> {
    const scp = await this.server.admin.get(stewardControlPlane, key);
    if (scp === undefined) throw new Error('there is no StewardControlPlane');
    const result = await this.controller.reconcile(scp, this.ctx);
    if (result.status !== undefined) {
      const body = { status: mergePatchOf(scp.status, result.status) ?? {} };
      await this.server.admin.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    }
    return result;
  }

  /** What the controller of TenantControlPlanes would report. */
  async tenantSays(status: object): Promise<void> {
    const tenant = await this.server.admin.get(tenantControlPlane, key);
    const body = { status: { observedGeneration: tenant?.metadata.generation, ...status } };
    await this.server.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
  }

  async tenantIsReady(): Promise<void> {
    await this.tenantSays({
      controlPlaneEndpoint: '172.30.0.10:31443',
      kubeconfig: { admin: { secretName: 'my-cluster-admin-kubeconfig' } },
      certificates: { ca: { secretName: 'my-cluster-ca' } },
      conditions: [conditionNow('TenantConfigured', 'True'), conditionNow('AddonsReady', 'True')],
      kubernetesResources: {
        version: { version: 'v1.36.3', status: 'Ready' },
        deployment: {
          selector: 'a=b',
          name: 'x',
          namespace: 'y',
          replicas: 2,
          readyReplicas: 2,
          availableReplicas: 2,
          updatedReplicas: 2,
        },
      },
    });
    await this.server.seed(kinds.Secret, tenantSecret('my-cluster-admin-kubeconfig', { 'admin.conf': 'a3ViZQ==' }));
    const ca = { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5', 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' };
    await this.server.seed(kinds.Secret, tenantSecret('my-cluster-ca', ca));
  }
}
