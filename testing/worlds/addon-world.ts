import { createHash } from 'node:crypto';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { capiCluster, capiClusterClass } from '../../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../../clusterstacks/api/cluster-addon.ts';
import { clusterAddon } from '../../clusterstacks/api/cluster-addon.ts';
import { clusterStackRelease } from '../../clusterstacks/api/cluster-stack-release.ts';
import { clusterAddonName, clusterStackLabels } from '../../clusterstacks/api/names.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, Manifest, PolicyRule, Resource } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { clusterAddonController } from '../../clusterstacks/controllers/clusteraddon/controller.ts';
import { clusterWatchController } from '../../clusterstacks/controllers/clusteraddon/cluster-controller.ts';
import type { Dependencies } from '../../clusterstacks/controllers/clusteraddon/dependencies.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Reconciler } from '../../runtime/reconcile/reconciler.ts';
import type { ReconcileOutcome } from '../../runtime/reconcile/reconciler.ts';
import type { AddonHook, AddonStage } from '../../clusterstacks/sources/cluster-addon-config.ts';
import type { ReleaseAssets } from '../../clusterstacks/sources/release-assets.ts';
import type { RenderRequest } from '../../clusterstacks/sources/renderer.ts';
import { FakeClock } from '../fake/fake-clock.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';
import type { Admit } from '../fake/fake-store.ts';

/** A release of a stack as tests describe it. */
export interface TestRelease {
  readonly kubernetes: string;
  readonly addonVersion: string;
  readonly stages: Readonly<Partial<Record<AddonHook, readonly AddonStage[]>>>;
  /** What each stage renders; a throwing one fails. */
  readonly charts: Readonly<Record<string, (request: RenderRequest) => readonly Manifest[]>>;
  /** Values templates by stage. */
  readonly overwrites?: Readonly<Record<string, string>>;
}

/** A kind that only the workload cluster has. */
export const gadget: KindRef = {
  group: 'example.org',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  namespaced: true,
};

const workloadKinds: readonly KindRef[] = [
  kinds.ConfigMap,
  kinds.Secret,
  kinds.Deployment,
  kinds.DaemonSet,
  kinds.Job,
  kinds.Namespace,
  kinds.ServiceAccount,
  kinds.CustomResourceDefinition,
];

function noop(): void {
  // Tests check objects, not logs.
}

/** A valid kubeconfig; its server is never contacted. */
const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'c',
  clusters: [{ name: 'k', cluster: { server: 'https://workload.example.org:6443' } }],
  contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  users: [{ name: 'u', user: { token: 'token' } }],
});

export const clusterKey = { namespace: 'default', name: 'blue' } as const;
export const addonKey = { namespace: 'default', name: clusterAddonName('blue') } as const;

/** A management cluster with a Cluster of a stack, its workload cluster, and the controllers of ClusterAddons. */
export class AddonWorld {
  readonly clock = new FakeClock();
  readonly management: FakeCluster;
  readonly workload: FakeCluster;
  readonly events: { readonly reason: string; readonly message: string }[] = [];
  /** Releases whose files were requested. */
  readonly asked: string[] = [];
  /** Stages that were rendered. */
  readonly rendered: string[] = [];
  /** Templates of values that were expanded. */
  readonly expanded: string[] = [];
  /** The workload cluster serves these besides the built-in ones. */
  readonly extraKinds: KindRef[] = [];
  /** Thrown when files are requested. */
  assetsError: Error | undefined;
  readonly #releases = new Map<string, ReleaseAssets>();
  readonly #charts = new Map<string, (request: RenderRequest) => readonly Manifest[]>();
  readonly #client: Cluster | undefined;
  #folder = '';
  #addons!: Reconciler;
  #clusters!: Reconciler;

  /** `workload` is the client of a real workload cluster instead of one in memory; `admit` is of the management cluster. */
  constructor({
    workload,
    ...options
  }: { readonly access?: readonly PolicyRule[]; readonly admit?: Admit; readonly workload?: Cluster } = {}) {
    this.#client = workload;
    const now = () => this.clock.now().getTime();
    this.management = new FakeCluster({ now, ...options });
    this.workload = new FakeCluster({ now, texts: this.#discovery() });
    this.restart();
  }

  /** Another process: nothing is remembered. */
  restart(): void {
    this.management.restart();
    this.workload.restart();
    this.#addons = this.#reconciler(clusterAddonController(this.#dependencies()));
    const clusters = (): readonly CapiCluster[] => [];
    const watch = clusterWatchController({ cluster: this.management, clusters });
    this.#clusters = this.#reconciler(watch);
  }

  /** Deletes the files of charts. */
  async close(): Promise<void> {
    if (this.#folder !== '') await rm(this.#folder, { recursive: true, force: true });
  }

  /** A Cluster of a release, with a control plane that is initialized, and its kubeconfig. */
  async create(release = 'v1'): Promise<void> {
    await this.management.seed(kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 'blue-kubeconfig' },
      data: { value: Buffer.from(kubeconfig).toString('base64') },
    });
    await this.management.seed(kinds.CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${stewardControlPlane.plural}.${stewardControlPlane.group}`,
        labels: { 'cluster.x-k8s.io/v1beta2': 'v1alpha2' },
      },
    });
    await this.setCluster({ release });
    await this.setVersion('v1.35.6');
  }

  /** The Cluster as its user and Cluster API leave it. */
  async setCluster(of: {
    readonly release: string;
    readonly initialized?: boolean;
    readonly variables?: unknown;
    readonly spec?: object;
    readonly annotations?: Readonly<Record<string, string>>;
  }): Promise<void> {
    const { release, initialized = true, variables = [] } = of;
    await this.management.seed(capiCluster, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { ...clusterKey, annotations: of.annotations },
      spec: {
        topology: { classRef: { name: `docker-test-1-35-${release}` }, variables },
        controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: stewardControlPlane.kind, name: 'blue' },
        ...of.spec,
      },
      status: { initialization: { controlPlaneInitialized: initialized } },
    });
  }

  /** The version that the control plane reports. */
  async setVersion(version: string): Promise<void> {
    const { group } = stewardControlPlane;
    await this.management.seed(
      { ...stewardControlPlane, version: 'v1alpha2' },
      {
        apiVersion: `${group}/v1alpha2`,
        kind: stewardControlPlane.kind,
        metadata: clusterKey,
        spec: { version, replicas: 1, dataStoreName: 'default', network: {}, kubelet: {} },
        status: { version, externalManagedControlPlane: true },
      },
    );
  }

  /** A release with its class, as the other controllers of the layer leave them. */
  async release(
    name: string,
    { kubernetes, addonVersion, stages, charts, overwrites = {} }: TestRelease,
    namespace = 'default',
  ): Promise<void> {
    if (this.#folder === '') this.#folder = await mkdtemp(join(tmpdir(), 'addons-'));
    const folder = join(this.#folder, name);
    for (const [stage, chart] of Object.entries(charts)) {
      const path = join(folder, stage);
      await mkdir(path, { recursive: true });
      this.#charts.set(path, chart);
      const overwrite = overwrites[stage];
      if (overwrite !== undefined) await writeFile(join(path, 'overwrite.yaml'), overwrite);
    }
    const full = `docker-test-1-35-${name}`;
    const digest = `sha256:${createHash('sha256').update(`${namespace}/${name}`).digest('hex')}`;
    this.#releases.set(full, {
      digest,
      source: 'registry.example.org/stacks',
      tag: full,
      metadata: { clusterStack: name, kubernetes, clusterAddon: addonVersion },
      clusterClassChart: '/nowhere',
      addons: { mode: 'stages', folder, config: { stages } },
    });
    await this.management.seed(capiClusterClass, {
      apiVersion: apiVersionOf(capiClusterClass),
      kind: 'ClusterClass',
      metadata: { namespace, name: full, labels: { [clusterStackLabels.release]: full } },
    });
    await this.management.seed(clusterStackRelease, {
      apiVersion: apiVersionOf(clusterStackRelease),
      kind: 'ClusterStackRelease',
      metadata: { namespace, name: full },
      spec: {},
      status: { kubernetesVersion: kubernetes, digest, ready: true },
    });
  }

  async addon(): Promise<ClusterAddon | undefined> {
    return this.management.admin.get<ClusterAddon>(clusterAddon, addonKey);
  }

  /** One reconcile of the Cluster and one of its ClusterAddon. */
  async reconcile(): Promise<ReconcileOutcome> {
    const cluster = await this.management.admin.get(capiCluster, clusterKey);
    if (cluster !== undefined) {
      const end = await this.#clusters.reconcile(cluster, silent);
      if (end.error !== undefined) return end;
    }
    const addon = await this.addon();
    return addon === undefined ? {} : this.#addons.reconcile(addon, silent);
  }

  /** Reconciles until nothing is to be done at once; throws the error of a reconcile. */
  async settle(): Promise<ReconcileOutcome> {
    for (let reconciles = 0; reconciles < 40; reconciles += 1) {
      const before = await this.#version();
      const end = await this.reconcile();
      if (end.error !== undefined) throw end.error as Error;
      if (end.afterMs !== 0 && end.again !== true && before === (await this.#version())) return end;
    }
    throw new Error('the ClusterAddon does not come to rest');
  }

  /** `Kind namespace/name` of all that is in the workload cluster, sorted. */
  async objects(): Promise<readonly string[]> {
    const all = await Promise.all(
      [...workloadKinds, ...this.extraKinds].map(async (kind) => {
        const { items } = await this.workload.admin.list(kind);
        return items.map(({ metadata: { namespace = '', name } }) => `${kind.kind} ${namespace}/${name}`);
      }),
    );
    return all.flat().sort();
  }

  /** The content of an object of the workload cluster, in the namespace of add-ons. */
  async dataOf(kind: 'ConfigMap' | 'Secret', name: string): Promise<unknown> {
    const key = { namespace: 'kube-system', name };
    const found = await this.workload.admin.get<Resource & { readonly data?: unknown }>(kinds[kind], key);
    return found?.data;
  }

  /** Writes to the workload cluster so far. */
  writes(): readonly string[] {
    return this.workload.calls
      .filter(({ verb }) => verb === 'apply' || verb === 'delete' || verb === 'create' || verb === 'patch')
      .map(({ verb, kind, name }) => `${verb} ${kind?.kind ?? ''} ${name ?? ''}`);
  }

  async #version(): Promise<string | undefined> {
    return (await this.addon())?.metadata.resourceVersion;
  }

  #reconciler(controller: Controller): Reconciler {
    return new Reconciler({
      memory: new ObjectMemory(),
      controller,
      cluster: this.management,
      clock: this.clock,
      events: { record: (_, { reason, message }) => void this.events.push({ reason, message }) },
      stop: new AbortController().signal,
      wrote: noop,
    });
  }

  #dependencies(): Dependencies {
    return {
      memory: new ObjectMemory(),
      cluster: this.management,
      seen: { clusters: () => [], classes: () => [] },
      clock: this.clock,
      random: () => 0.5,
      pool: { borrow: () => this.#client ?? this.workload },
      assets: ({ metadata: { name } }) => {
        this.asked.push(name);
        if (this.assetsError !== undefined) return Promise.reject(this.assetsError);
        const found = this.#releases.get(name);
        return found === undefined ? Promise.reject(new Error(`no release ${name}`)) : Promise.resolve(found);
      },
      renderer: {
        render: async (request) => {
          this.rendered.push(request.chart.split('/').at(-1) ?? '');
          await Promise.resolve();
          return this.#charts.get(request.chart)?.(request) ?? [];
        },
        expand: ({ template, root }) => {
          this.expanded.push(template);
          return Promise.resolve(template.replace('{{ variables }}', JSON.stringify(variablesOf(root))));
        },
      },
    };
  }

  #discovery(): Readonly<Record<string, (path: string) => string>> {
    const all = (): readonly KindRef[] => [...workloadKinds, ...this.extraKinds];
    const groups = () => {
      const versions = [
        ...new Set(
          all()
            .filter(({ group }) => group !== '')
            .map(apiVersionOf),
        ),
      ];
      return JSON.stringify({ groups: versions.map((groupVersion) => ({ versions: [{ groupVersion }] })) });
    };
    const paths = [
      '/api/v1',
      ...['apps/v1', 'batch/v1', 'apiextensions.k8s.io/v1', 'example.org/v1'].map((v) => `/apis/${v}`),
    ];
    const list = (path: string): string => {
      const found = all().filter((kind) => path.endsWith(`/${apiVersionOf(kind)}`));
      const resources = found.map(({ plural: name, kind, namespaced }) => ({ name, kind, namespaced }));
      return JSON.stringify({ resources });
    };
    return { '/apis': groups, ...Object.fromEntries(paths.map((path) => [path, list])) };
  }
}

function variablesOf(root: Readonly<Record<string, unknown>>): unknown {
  const { Cluster } = root as {
    readonly Cluster?: { readonly spec?: { readonly topology?: { variables?: unknown } } };
  };
  return Cluster?.spec?.topology?.variables;
}

/** An object of a chart. */
export function chartObject(kind: string, name: string, fields: object = {}, apiVersion = 'v1'): Manifest {
  return { apiVersion, kind, metadata: { name }, ...fields };
}
