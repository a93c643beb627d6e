import type { StoreOverride } from './control-plane-input.ts';

/** The resource that may be lost: events live for an hour, and nothing waits for them. */
export const eventsResource = '/events';

function byResource(overrides: readonly StoreOverride[]): readonly StoreOverride[] {
  return [...overrides].sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

/** Value of kube-apiserver's `--etcd-servers-overrides`, whatever the order of the overrides. */
export function etcdOverrides(overrides: readonly StoreOverride[]): string {
  return byResource(overrides)
    .map(({ resource, endpoints }) => `${resource}#${endpoints.join(';')}`)
    .join(',');
}

/** Which of kube-apiserver's health checks are not asked for; each as `exclude` takes it. */
export interface HealthExclusions {
  /** The process lives whatever its stores do. */
  readonly live: readonly string[];
  /** An API server without its events serves all the same. */
  readonly ready: readonly string[];
}

/**
 * The checks that kube-apiserver adds for `overrides`: one for each set of servers, counted in the order of the flag
 * (k8s.io/apiserver, pkg/server/options/etcd.go).
 */
export function overrideHealthExclusions(overrides: readonly StoreOverride[]): HealthExclusions {
  const resources = new Map<string, string[]>();
  for (const { resource, endpoints } of byResource(overrides)) {
    const servers = [...endpoints].sort().join(';');
    resources.set(servers, [...(resources.get(servers) ?? []), resource]);
  }
  const sets = [...resources.values()];
  return {
    live: sets.map((_, index) => `etcd-override-${index}`),
    ready: sets.flatMap((held, index) =>
      held.every((resource) => resource === eventsResource)
        ? [`etcd-override-${index}`, `etcd-override-readiness-${index}`]
        : [],
    ),
  };
}
