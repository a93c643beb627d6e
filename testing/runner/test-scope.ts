import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import type { KubernetesRelease } from '../../e2e/tools/kubernetes-releases.ts';

/** What of the tests one run is of. */
export interface TestScope {
  /** Kubernetes releases whose clusters are run and whose kubeadm is compared, newest first. */
  readonly releases: readonly KubernetesRelease[];
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
  'external',
  'flux',
  'manager-restart',
  'network-policies',
  'oldest-minor',
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
  if (asked === 'whole') return { releases: kubernetesReleases, leftOut: [] };
  if (asked === 'core') return { releases: kubernetesReleases.slice(0, coreMinors), leftOut: beyondCore };
  throw new Error(`${testScopeVariable} is "${asked}": say core, or whole, which is the default.`);
}
