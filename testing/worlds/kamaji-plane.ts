import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../api/meta.ts';
import { ownerReferenceOf } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kamajiKinds } from '../../cmd/plugin/import/kamaji-kinds.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { kamajiControlPlane, kamajiStore } from '../builders/kamaji-control-plane.ts';
import { conditionOf } from '../builders/plugin-control-planes.ts';

const namespace = 'tenants';
const name = 'shop';
const key = { namespace, name };
const kamaji = 'kamaji.clastix.io';
const steward = 'steward.butlerlabs.dev';
const podSpec = { containers: [{ name: 'kube-apiserver', image: 'none' }] };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The Secrets of a control plane of Kamaji, by the end of their names: component label and content. */
const secrets: Readonly<Record<string, readonly [component: string, data: Readonly<Record<string, string>>]>> = {
  ca: ['ca', { 'ca.crt': base64('the CA'), 'ca.key': base64('its key') }],
  'front-proxy-ca-certificate': ['front-proxy-ca-certificate', { 'front-proxy-ca.crt': base64('front proxy') }],
  'sa-certificate': ['sa-certificate', { 'sa.pub': base64('public'), 'sa.key': base64('private') }],
  'datastore-config': ['datastore-config', { DB_PASSWORD: base64('0f0e1ad6-0000-4000-8000-000000000000') }],
};

/**
 * A control plane `tenants/shop` of Kamaji with two pods in a cluster without controllers, and what would act around an import: those of
 * Kubernetes, and the manager of Steward.
 */
export class KamajiPlane {
  readonly cluster: Cluster;
  /** False: the new pods never become ready. */
  podsStart = true;
  /** What Steward makes the endpoint. */
  endpoint = '10.96.0.20:6443';

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  /** The names of the ready pods to which the Service leads. */
  async reached(): Promise<readonly string[]> {
    const slice = await this.cluster.get(kinds.EndpointSlice, key);
    return (slice?.endpoints ?? []).map(({ targetRef }) => targetRef?.name ?? '');
  }

  /** Makes the control plane as Kamaji leaves it. */
  async seed(changes: Parameters<typeof kamajiControlPlane>[0] = {}): Promise<void> {
    const { cluster } = this;
    await put(cluster, kamajiKinds.dataStore, kamajiStore());
    const owner = ownerReferenceOf(await put(cluster, kamajiKinds.controlPlane, kamajiControlPlane(changes)));
    const labeled = (component: string): Readonly<Record<string, string>> => ({
      [`${kamaji}/project`]: 'kamaji',
      [`${kamaji}/name`]: name,
      [`${kamaji}/component`]: component,
    });
    const owned = (own: string, component: string, more: object = {}): Manifest['metadata'] => ({
      ...{ namespace, name: own, labels: labeled(component), ownerReferences: [owner], ...more },
    });
    for (const [suffix, [component, data]] of Object.entries(secrets)) {
      const annotations = { [`${kamaji}/checksum`]: 'x' };
      const finalizers = suffix === 'datastore-config' ? [`finalizer.${kamaji}/datastore-secret`] : [];
      const metadata = owned(`${name}-${suffix}`, component, { annotations, finalizers });
      await put(cluster, kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data });
    }
    await put(cluster, kinds.Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: owned(name, 'service'),
      spec: { selector: { [`${kamaji}/name`]: name }, ports: [{ name: 'kube-apiserver', port: 6443 }] },
    });
    const deployment = await this.#deployment(owned(name, 'deployment'), kamaji);
    await this.#pods(deployment, 'old', kamaji);
  }

  async #deployment(metadata: Manifest['metadata'], domain: string): Promise<Resource> {
    const selector = { matchLabels: { [`${domain}/name`]: name } };
    return put(this.cluster, kinds.Deployment, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
      spec: { replicas: 2, selector, template: { metadata: { labels: selector.matchLabels }, spec: podSpec } },
      status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: this.podsStart ? 2 : 0 },
    });
  }

  async #pods(deployment: Resource, hash: string, domain: string): Promise<void> {
    const labels = { [`${domain}/name`]: name, 'pod-template-hash': hash };
    const set = await put(this.cluster, kinds.ReplicaSet, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace, name: `${name}-${hash}`, labels, ownerReferences: [ownerReferenceOf(deployment)] },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
    });
    for (const pod of ['a', 'b']) {
      await put(this.cluster, kinds.Pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name: `${name}-${hash}-${pod}`, labels, ownerReferences: [ownerReferenceOf(set)] },
        spec: podSpec,
        status: { conditions: [{ type: 'Ready', status: hash === 'old' || this.podsStart ? 'True' : 'False' }] },
      });
    }
  }

  /** What the controllers of Kubernetes and the manager of Steward do, each once. */
  async act(): Promise<void> {
    await this.#storeIsReady();
    await this.#manage();
    await this.#sliceUp();
  }

  async #storeIsReady(): Promise<void> {
    const found = await this.cluster.get(dataStore, { name: 'default' });
    if (found === undefined || found.status?.conditions !== undefined) return;
    const body = { status: { conditions: [conditionOf('Ready', 'True', 'Ready')] } };
    await this.cluster.patch(dataStore, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
  }

  async #manage(): Promise<void> {
    const admin = this.cluster;
    const tcp = await admin.get(tenantControlPlane, key);
    if (tcp === undefined || tcp.metadata.deletionTimestamp !== undefined) return;
    const isPaused = tcp.metadata.annotations?.[`${steward}/paused`] !== undefined;
    const conditions = [
      conditionOf('Paused', isPaused ? 'True' : 'False', 'Paused'),
      ...(isPaused ? [] : [conditionOf('Ready', this.podsStart ? 'True' : 'False', 'Ready')]),
    ];
    const body = { status: { conditions, ...(!isPaused && { controlPlaneEndpoint: this.endpoint }) } };
    await admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    if (isPaused || (await admin.get(kinds.Deployment, key)) !== undefined) return;
    if (!(tcp.metadata.finalizers ?? []).includes(`finalizer.${steward}`)) {
      const finalizers = { metadata: { finalizers: [`finalizer.${steward}`] } };
      await admin.patch(tenantControlPlane, key, { type: 'merge', body: finalizers });
    }
    const metadata = { ...key, labels: { [`${steward}/name`]: name }, ownerReferences: [ownerReferenceOf(tcp)] };
    await this.#pods(await this.#deployment(metadata, steward), 'new', steward);
  }

  async #sliceUp(): Promise<void> {
    const admin = this.cluster;
    const service = await admin.get(kinds.Service, key);
    const selector = Object.entries(service?.spec?.selector ?? {});
    const pods = (await admin.list(kinds.Pod, { namespace })).items.filter(
      ({ metadata, status }) =>
        selector.every(([label, value]) => metadata.labels?.[label] === value) &&
        status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true,
    );
    const endpoints = pods.map((pod) => ({
      addresses: ['10.0.0.1'],
      targetRef: { kind: 'Pod', name: pod.metadata.name },
    }));
    await put(this.cluster, kinds.EndpointSlice, {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', endpoints },
      metadata: { ...key, labels: { 'kubernetes.io/service-name': name } },
    });
  }

  /** True if Kamaji or Steward would remove the data now, Steward would use other data, or both would write the same objects. */
  async isInDanger(): Promise<boolean> {
    const admin = this.cluster;
    const old = await admin.get(kamajiKinds.controlPlane, key);
    const ours = await admin.get(tenantControlPlane, key);
    const wouldRemove = [[old, `finalizer.${kamaji}`] as const, [ours, `finalizer.${steward}`] as const].some(
      ([one, finalizer]) =>
        one?.metadata.deletionTimestamp !== undefined && one.metadata.finalizers?.includes(finalizer) === true,
    );
    const runs = ours !== undefined && ours.metadata.annotations?.[`${steward}/paused`] === undefined;
    const isElsewhere = runs && ours.status?.storage?.setup?.schema !== 'tenants_shop';
    const isLost = (await admin.get(kinds.Secret, { namespace, name: `${name}-ca` })) === undefined;
    const isFought = runs && old !== undefined && old.metadata.annotations?.[`${kamaji}/paused`] === undefined;
    return wouldRemove || isElsewhere || isLost || isFought;
  }
}

/** Stores an object with its status, as somebody else would have left it. */
async function put(cluster: Cluster, kind: KindRef, object: Manifest): Promise<Resource> {
  const { status, ...manifest } = object;
  const { namespace: place, name: own } = object.metadata;
  const stored = await cluster.apply(kind, manifest, { fieldManager: 'seed' });
  if (status === undefined) return stored;
  const at = { ...(place !== undefined && { namespace: place }), name: own };
  return cluster.patch(kind, at, { type: 'merge', body: { status } }, { subresource: 'status' });
}
