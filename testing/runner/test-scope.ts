import { clusterApiReleases } from '../../e2e/tools/cluster-api-releases.ts';
import type { ClusterApiRelease } from '../../e2e/tools/cluster-api-releases.ts';
import { etcdReleases } from '../../e2e/tools/etcd-releases.ts';
import type { EtcdRelease } from '../../e2e/tools/etcd-releases.ts';
import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import type { KubernetesRelease } from '../../e2e/tools/kubernetes-releases.ts';

/** What of the tests one run is of. */
export interface TestScope {
  /** Kubernetes releases whose clusters are run and whose kubeadm is compared, newest first. */
  readonly releases: readonly KubernetesRelease[];
  /** Releases of Cluster API with which the contract is tried, newest first. */
  readonly clusterApi: readonly ClusterApiRelease[];
  /** Releases of etcd with which the driver is tried; the first is what everything else runs. */
  readonly etcd: readonly EtcdRelease[];
  /** Scenarios below e2e/scenarios that are not run, without their ending. */
  readonly leftOut: readonly string[];
}

/** Variable of the environment: `core`, or `whole`, which is the default. */
export const testScopeVariable = 'STEWARD_TESTS';

/**
 * Scenarios beyond the core: those that need programs of older minors or of their own, and long ones whose subject the other tiers try on real API
 * servers and stores, though not with real nodes. A green core therefore says less than a green whole.
 */
export const beyondCore = [
  'clusterctl-upgrade',
  'datastores',
  'datastores-sql',
  'exposure',
  'external',
  'flux',
  'konnectivity',
  'manager-restart',
  'network-policies',
  'oldest-minor',
  'restore-elsewhere',
  'rollouts',
  'rotation',
  'tenant-faults',
] as const;

/** How many minors the core is of: a control plane is upgraded from one to the next. */
const coreMinors = 2;

/**
 * The scope of this run. The core is for a machine on which every program is still to be built: that takes as long as half of all
 * tests. Throws an error for a word that is no scope.
 */
export function testScope(asked = process.env[testScopeVariable] ?? 'whole'): TestScope {
  if (asked === 'whole')
    return { releases: kubernetesReleases, clusterApi: clusterApiReleases, etcd: etcdReleases, leftOut: [] };
  if (asked === 'core')
    return {
      releases: kubernetesReleases.slice(0, coreMinors),
      clusterApi: clusterApiReleases.slice(0, 1),
      // Others of the tests migrate from one minor to the next.
      etcd: etcdReleases.slice(0, 2),
      leftOut: beyondCore,
    };
  throw new Error(`${testScopeVariable} is "${asked}": say core, or whole, which is the default.`);
}
