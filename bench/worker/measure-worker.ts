import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { watchObjects } from '../../e2e/cluster/watch-objects.ts';
import { capiVersion, generateWorkload } from '../../e2e/framework/cluster-api/cluster-stage.ts';
import { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { joinByHand } from '../../e2e/framework/workers/tenant-worker.ts';
import { Workload } from '../../e2e/framework/workload.ts';
import type { Stages } from '../figure.ts';
import { idleMachine } from '../footprint/idle.ts';
import { milestoneOfStep, WorkerRecorder } from './worker-recorder.ts';
import type { WorkerRow, WorkerTimeline } from './worker-rows.ts';

const namespace = 'default';
const limitMs = 300_000;

const collections: readonly (readonly [kind: string, path: string])[] = [
  ['TenantControlPlane', `/apis/steward.butlerlabs.dev/v1alpha1/namespaces/${namespace}/tenantcontrolplanes`],
  ['Cluster', `/apis/${capiVersion}/namespaces/${namespace}/clusters`],
  ['Machine', `/apis/${capiVersion}/namespaces/${namespace}/machines`],
];

/**
 * Measures how long a Cluster takes to its first worker, and how long a machine takes to join its control plane by hand, in
 * turn. One Cluster before does not count.
 */
export async function measureWorker(stage: Stages['clusterApi'], rounds: number): Promise<readonly WorkerRow[]> {
  const { progress } = stage.cluster.harness;
  const ways = { Cluster: [] as WorkerTimeline[], 'by hand': [] as WorkerTimeline[] };
  const busy = { Cluster: [] as number[], 'by hand': [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const name = `bench-${round}`;
    const workload = new Workload(stage.cluster, name);
    const before = await idleMachine();
    const ours = await measureCluster(stage, workload);
    const beforeHand = await idleMachine();
    const byHand = await measureByHand(stage.cluster, workload);
    await removed(workload);
    if (round === 0) continue;
    ways.Cluster.push(ours);
    ways['by hand'].push(byHand);
    busy.Cluster.push(before);
    busy['by hand'].push(beforeHand);
    const [all, hand] = [ours, byHand].map((timeline) => ((timeline['node Ready'] ?? 0) / 1000).toFixed(1));
    progress(`worker, round ${round} of ${rounds}`, `${all ?? ''} s, by hand ${hand ?? ''} s`);
  }
  return (['Cluster', 'by hand'] as const).map((way) => ({ way, timelines: ways[way], busyBefore: busy[way] }));
}

async function measureCluster(stage: Stages['clusterApi'], workload: Workload): Promise<WorkerTimeline> {
  const { cluster, clusterApi, steps } = stage;
  const manifests = await generateWorkload(clusterApi, { name: workload.name });
  const ending = new AbortController();
  const recorder = new WorkerRecorder(performance.now());
  const options = watchOptions(cluster, ending.signal);
  using listening = steps.listen((machine, step) => {
    const milestone = milestoneOfStep[step];
    if (machine.startsWith(`${workload.name}-`) && milestone !== undefined)
      recorder.reach(milestone, performance.now());
  });
  try {
    for (const [kind, path] of collections) {
      watchObjects(
        cluster.client.config,
        path,
        ({ type, object }) => {
          const isOwn = object.metadata?.name === workload.name || belongsTo(object.metadata?.labels, workload.name);
          if (type !== 'DELETED' && isOwn) recorder.see(kind, object, performance.now());
          return Promise.resolve();
        },
        options,
      ).catch(options.onError);
    }
    await cluster.kubectl(['apply', '-f', '-'], { input: manifests });
    recorder.reach('request answered', performance.now());
    await workload.initialized(limitMs);
    await nodeReady(await workload.tenant(), recorder, options);
    return recorder.timeline;
  } finally {
    ending.abort();
    listening[Symbol.dispose]();
  }
}

async function measureByHand(cluster: ManagementCluster, workload: Workload): Promise<WorkerTimeline> {
  const stage = new TenantStage(cluster, namespace);
  const { controlPlaneEndpoint: endpoint = '' } = await stage.waitFor(workload.name, 'Ready');
  const client = new KubernetesClient(await workload.kubeconfig());
  const worker = `${workload.name}-by-hand`;
  const recorder = new WorkerRecorder(performance.now());
  recorder.reach('machine starts', performance.now());
  const ending = new AbortController();
  const watched = nodeReady(client, recorder, watchOptions(cluster, ending.signal), worker);
  // It is waited for below; until then its failure has a handler.
  watched.catch(() => undefined);
  try {
    const prepare = (): Promise<void> => {
      recorder.reach('machine booted', performance.now());
      return Promise.resolve();
    };
    await using joined = await joinByHand(stage, { tenant: workload.name, endpoint, worker, prepare });
    await watched;
    await client.delete({ apiVersion: 'v1', kind: 'Node', name: joined.name });
    return recorder.timeline;
  } finally {
    ending.abort();
    await Promise.allSettled([watched]);
  }
}

interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

function watchOptions({ harness }: ManagementCluster, ending: AbortSignal): WatchOptions {
  return {
    signal: AbortSignal.any([ending, harness.signal]),
    onError: (error) => {
      harness.progress('watch', String(error));
    },
  };
}

/** Watches the nodes of a tenant until one is Ready, or the one of this name. */
async function nodeReady(
  tenant: KubernetesClient,
  recorder: WorkerRecorder,
  { signal, onError }: WatchOptions,
  name?: string,
): Promise<void> {
  const limit = AbortSignal.timeout(limitMs);
  await new Promise<void>((resolve, reject) => {
    const ended = AbortSignal.any([signal, limit]);
    ended.addEventListener('abort', () => {
      const why = `no node of the tenant was Ready after ${limitMs / 1000} s`;
      reject(limit.aborted ? new Error(why) : new Error('the measurement was ended'));
    });
    watchObjects(
      tenant.config,
      '/api/v1/nodes',
      ({ type, object }) => {
        if (type === 'DELETED' || (name !== undefined && object.metadata?.name !== name)) return Promise.resolve();
        recorder.see('Node', object, performance.now());
        if (recorder.has('node Ready')) resolve();
        return Promise.resolve();
      },
      { signal: ended, onError },
    ).catch(onError);
  });
}

function belongsTo(labels: Readonly<Record<string, string>> | undefined, cluster: string): boolean {
  return labels?.['cluster.x-k8s.io/cluster-name'] === cluster;
}

async function removed(workload: Workload): Promise<void> {
  await workload.cluster.client.delete(workload.address);
  await workload.waitFor(workload.address, (object) => object === undefined, { timeoutMs: limitMs, what: 'its end' });
}
