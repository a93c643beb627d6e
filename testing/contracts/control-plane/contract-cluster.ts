import type { Expectation, ObjectAddress, PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';
import { KubernetesClient } from '../../../e2e/cluster/kubernetes-client.ts';
import { infrastructureVersion } from './infrastructure.ts';
import type { ControlPlaneName, ControlPlaneProfile } from './profile.ts';

/** `apiVersion` of Cluster API's own kinds. */
export const capiVersion = 'cluster.x-k8s.io/v1beta2';

/** A busy machine needs it; an idle one a tenth. */
const patienceMs = 120_000;

interface Parts {
  readonly profile: ControlPlaneProfile;
  readonly client: KubernetesClient;
}

/** A Cluster and its control plane, in a namespace of the Cluster's name. */
export class ContractCluster {
  readonly name: string;
  readonly namespace: string;
  readonly #parts: Parts;
  readonly #controlPlane: string;

  /** @param controlPlane name of the control plane; by default another one than the Cluster's. */
  constructor(parts: Parts, name: string, controlPlane = `${name}-cp`) {
    this.#parts = parts;
    this.name = name;
    this.namespace = name;
    this.#controlPlane = controlPlane;
  }

  /** Names the control plane for its hosting. */
  get hosted(): ControlPlaneName {
    return { namespace: this.namespace, name: this.#controlPlane };
  }

  /** Key of an object of this namespace; by default with the Cluster's name. */
  at(apiVersion: string, kind: string, name = this.name): ObjectAddress & { readonly namespace: string } {
    return { apiVersion, kind, name, namespace: this.namespace };
  }

  get cluster(): ObjectAddress {
    return this.at(capiVersion, 'Cluster');
  }

  get controlPlane(): ObjectAddress {
    const { apiVersion, kind } = this.#parts.profile;
    return this.at(apiVersion, kind, this.#controlPlane);
  }

  /** The Secret of a purpose, such as `kubeconfig` or `ca`. */
  secret(purpose: string): ObjectAddress {
    return this.at('v1', 'Secret', `${this.name}-${purpose}`);
  }

  controlPlaneManifest(spec: Readonly<Record<string, unknown>> = {}): PlainObject {
    const { profile } = this.#parts;
    const version = profile.versions[2];
    return { ...this.#manifest(this.controlPlane), spec: { ...profile.spec, version, replicas: 1, ...spec } };
  }

  /** A Cluster of this control plane, and of an infrastructure cluster of a kind if one is named. */
  clusterManifest(infrastructure?: string): PlainObject {
    const { apiVersion, kind } = this.#parts.profile;
    const reference = (version: string, of: string, name: string): object => ({
      ...{ apiGroup: version.split('/')[0], kind: of, name },
    });
    const infrastructureRef =
      infrastructure === undefined
        ? {}
        : { infrastructureRef: reference(infrastructureVersion, infrastructure, this.name) };
    return {
      ...this.#manifest(this.cluster),
      spec: { controlPlaneRef: reference(apiVersion, kind, this.#controlPlane), ...infrastructureRef },
    };
  }

  /** An infrastructure cluster that is not managed by its provider. */
  infrastructureManifest(kind: string): PlainObject {
    const address = this.at(infrastructureVersion, kind);
    const manifest = this.#manifest(address);
    const annotations = { 'cluster.x-k8s.io/managed-by': this.#parts.profile.provider };
    return { ...manifest, metadata: { ...manifest.metadata, annotations }, spec: {} };
  }

  /** Templates and a MachineDeployment of workers that kubeadm joins. */
  workerManifests(replicas: number): readonly PlainObject[] {
    const version = this.#parts.profile.versions[2];
    const bootstrapVersion = 'bootstrap.cluster.x-k8s.io/v1beta2';
    const reference = (apiVersion: string, kind: string): object => ({
      ...{ apiGroup: apiVersion.split('/')[0], kind, name: this.name },
    });
    const bootstrap = { configRef: reference(bootstrapVersion, 'KubeadmConfigTemplate') };
    const infrastructureRef = reference(infrastructureVersion, 'ContractMachineTemplate');
    const spec = { clusterName: this.name, version, bootstrap, infrastructureRef };
    return [
      ...this.workerTemplates(),
      {
        ...this.#manifest(this.at(capiVersion, 'MachineDeployment')),
        spec: { clusterName: this.name, replicas, template: { spec } },
      },
    ];
  }

  /** What workers are made from. */
  workerTemplates(): readonly PlainObject[] {
    const bootstrapVersion = 'bootstrap.cluster.x-k8s.io/v1beta2';
    return [
      {
        ...this.#manifest(this.at(bootstrapVersion, 'KubeadmConfigTemplate')),
        spec: { template: { spec: { format: 'cloud-config' } } },
      },
      {
        ...this.#manifest(this.at(infrastructureVersion, 'ContractMachineTemplate')),
        spec: { template: { spec: {} } },
      },
    ];
  }

  async apply(...manifests: readonly PlainObject[]): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } };
    await this.#parts.client.apply([namespace, ...manifests]);
  }

  /** The object as soon as it is as expected. */
  async until(address: ObjectAddress, what: string, expected: Expectation): Promise<PlainObject> {
    const found = await this.#parts.client.waitFor(address, expected, { what, timeoutMs: patienceMs });
    return found ?? {};
  }

  async gone(address: ObjectAddress): Promise<void> {
    const timeoutMs = patienceMs;
    await this.#parts.client.waitFor(address, (object) => object === undefined, { what: 'its end', timeoutMs });
  }

  async read(address: ObjectAddress): Promise<PlainObject> {
    const found = await this.#parts.client.read(address);
    if (found === undefined) throw new Error(`There is no ${address.kind} ${address.name}.`);
    return found;
  }

  merge(address: ObjectAddress, patch: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#parts.client.merge(address, patch);
  }

  /** Until core calls the control plane initialized and available, and reaches it. */
  async available(): Promise<void> {
    for (const type of ['ControlPlaneInitialized', 'ControlPlaneAvailable', 'RemoteConnectionProbe'])
      await this.until(this.cluster, type, type);
    // Core writes conditions in a separate request, before the rest of the status.
    await this.until(this.cluster, 'initialization.controlPlaneInitialized', ({ status } = {}) => {
      const { controlPlaneInitialized } = (status?.initialization ?? {}) as Readonly<Record<string, unknown>>;
      return controlPlaneInitialized === true;
    });
  }

  /** The kubeconfig that Cluster API reads, as text. */
  async kubeconfig(): Promise<string> {
    const { data } = await this.read(this.secret('kubeconfig'));
    return Buffer.from(data?.value ?? '', 'base64').toString();
  }

  /** The workload cluster's API, as its administrator. */
  async workload(): Promise<KubernetesClient> {
    return new KubernetesClient(await this.kubeconfig());
  }

  #manifest({ apiVersion, kind, name, namespace = '' }: ObjectAddress): PlainObject {
    return { apiVersion, kind, metadata: { name, namespace } };
  }
}

/** Condition of an object by its type. */
export function conditionOf({ status }: PlainObject, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}
