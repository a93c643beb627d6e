import { kinds } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { ownerReferenceOf } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionOf } from '../builders/plugin-control-planes.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';
import { SkippingClock } from '../fake/skipping-clock.ts';

const domain = 'steward.butlerlabs.dev';
const namespace = 'tenants';
const names = ['shop', 'blog'] as const;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Two control planes of the Go Steward and its manager, and, once it is installed, what our manager would do. */
export class GoStewardWorld {
  readonly cluster = new FakeCluster();
  readonly clock = new SkippingClock();
  /** What Steward makes the endpoint of `shop`. */
  endpoint = '10.96.0.20:6443';
  #isInstalled = false;

  static async create(changes: { readonly spec?: object; readonly status?: object } = {}): Promise<GoStewardWorld> {
    const world = new GoStewardWorld();
    for (const name of names) await world.#seed(name, name === 'shop' ? changes : {});
    await world.cluster.seed(kinds.Deployment, managerOf('steward', []));
    await world.cluster.seed(dataStore, {
      ...{ apiVersion: `${domain}/v1alpha1`, kind: 'DataStore', metadata: { name: 'default' } },
      spec: { driver: 'PostgreSQL', endpoints: ['pg:5432'], basicAuth },
    });
    world.cluster.after(async ({ verb }) => {
      if (verb === 'patch') await world.#act();
    });
    return world;
  }

  /** Installs Steward, whose manager sees everything at once. */
  async install(): Promise<void> {
    this.#isInstalled = true;
    await this.cluster.seed(kinds.Deployment, managerOf('steward-controller-manager', [{ name: 'POD_UID' }]));
    const body = { status: { conditions: [conditionOf('Ready', 'True', 'Ready')] } };
    const patch = { type: 'merge', body } as const;
    await this.cluster.admin.patch(dataStore, { name: 'default' }, patch, { subresource: 'status' });
    await this.#act();
  }

  async #seed(name: string, { spec, status }: { readonly spec?: object; readonly status?: object }): Promise<void> {
    const { cluster } = this;
    const schema = `${namespace}_${name}`;
    const tcp = await cluster.seed(tenantControlPlane, {
      ...{ apiVersion: `${domain}/v1alpha1`, kind: 'TenantControlPlane', metadata: { name, namespace } },
      spec: {
        dataStore: 'default',
        controlPlane: { deployment: { replicas: 2 }, service: { serviceType: 'ClusterIP' } },
        kubernetes: { version: 'v1.35.4' },
        ...spec,
      },
      status: {
        controlPlaneEndpoint: '10.96.0.20:6443',
        storage: { driver: 'PostgreSQL', dataStoreName: 'default', setup: { schema, user: schema } },
        kubernetesResources: { version: { version: 'v1.35.4', status: 'Ready' } },
        ...status,
      },
    });
    const owned = (own: string): Manifest['metadata'] => ({
      ...{ namespace, name: own, labels: { [`${domain}/name`]: name }, ownerReferences: [ownerReferenceOf(tcp)] },
    });
    const secret = (suffix: string, data: object): Manifest => ({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: owned(`${name}-${suffix}`), data },
    });
    await cluster.seed(kinds.Secret, secret('ca', { 'ca.crt': base64(`CA of ${name}`) }));
    await cluster.seed(kinds.Secret, secret('sa-certificate', { 'sa.pub': base64(`key of ${name}`) }));
    await cluster.seed(kinds.Deployment, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: owned(name) },
      spec: { replicas: 2, selector: { matchLabels: {} }, template: {} },
      status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 },
    });
    const endpoints = ['a', 'b'].map((pod) => ({ addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', name: pod } }));
    await cluster.seed(kinds.EndpointSlice, {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', endpoints },
      metadata: { namespace, name, labels: { 'kubernetes.io/service-name': name } },
    });
  }

  async #act(): Promise<void> {
    const { admin } = this.cluster;
    const former = await admin.get(kinds.Deployment, { namespace: 'steward-system', name: 'steward' });
    if (former !== undefined) {
      const { generation } = former.metadata;
      const replicas = former.spec?.replicas ?? 0;
      const body = { status: { observedGeneration: generation, replicas, readyReplicas: replicas } };
      await admin.patch(kinds.Deployment, former.metadata, { type: 'merge', body }, { subresource: 'status' });
    }
    if (!this.#isInstalled) return;
    for (const name of names) {
      const tcp = await admin.get(tenantControlPlane, { namespace, name });
      if (tcp === undefined) continue;
      const isPaused = tcp.metadata.annotations?.[`${domain}/paused`] !== undefined;
      const { generation } = tcp.metadata;
      const conditions = [
        conditionOf('Paused', isPaused ? 'True' : 'False', 'Paused', { generation }),
        ...(isPaused ? [] : [conditionOf('Ready', 'True', 'Ready', { generation })]),
      ];
      const moved = isPaused || name !== 'shop' ? {} : { controlPlaneEndpoint: this.endpoint };
      const body = { status: { conditions, ...moved } };
      await admin.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
    }
  }
}

const basicAuth = { username: { content: 'YQ==' }, password: { content: 'YQ==' } };

function managerOf(name: string, env: readonly object[]): Manifest {
  const metadata = { namespace: 'steward-system', name, labels: { 'app.kubernetes.io/name': 'steward' } };
  const spec = { replicas: 1, selector: {}, template: { spec: { containers: [{ name: 'manager', env }] } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec, status: { replicas: 1, observedGeneration: 1 } };
}
