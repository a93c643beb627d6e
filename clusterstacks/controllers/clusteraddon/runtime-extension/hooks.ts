/** Names of Cluster API's Runtime SDK (https://cluster-api.sigs.k8s.io/tasks/experimental-features/runtime-sdk/). */

/** `apiVersion` of requests, answers and hooks. */
export const hooksVersion = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';

/** A hook that core Cluster API calls. */
export interface ServedHook {
  readonly hook: 'AfterControlPlaneInitialized' | 'BeforeClusterUpgrade' | 'AfterClusterUpgrade';
  /** Of our handler; a DNS label. */
  readonly name: string;
  /** What core does when there is no answer. */
  readonly failurePolicy: 'Fail' | 'Ignore';
}

/** Where core does not wait for the answer, none is needed: what is due follows from the objects. */
export const servedHooks: readonly ServedHook[] = [
  {
    hook: 'AfterControlPlaneInitialized',
    name: 'after-control-plane-initialized',
    failurePolicy: 'Ignore',
  },
  { hook: 'BeforeClusterUpgrade', name: 'before-cluster-upgrade', failurePolicy: 'Fail' },
  { hook: 'AfterClusterUpgrade', name: 'after-cluster-upgrade', failurePolicy: 'Ignore' },
];

/** The path of a handler; without a name, that of a hook with a single handler. */
export function hookPath(hook: string, name?: string): string {
  return ['', hooksVersion, hook.toLowerCase(), ...(name === undefined ? [] : [name])].join('/');
}
