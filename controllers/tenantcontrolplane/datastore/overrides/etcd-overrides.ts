import type { StoreOverride } from '../../shared/control-plane-input.ts';

/** The only resource that may be lost: Events expire after an hour, and nothing depends on them. */
export const eventsResource = '/events';

function byResource(overrides: readonly StoreOverride[]): readonly StoreOverride[] {
  return [...overrides].sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

/** Value of kube-apiserver's `--etcd-servers-overrides`, independent of the order of the overrides. */
export function etcdOverrides(overrides: readonly StoreOverride[]): string {
  return byResource(overrides)
    .map(({ resource, endpoints }) => `${resource}#${endpoints.join(';')}`)
    .join(',');
}

/** Which of kube-apiserver's health checks are skipped, in the form that `exclude` takes. */
export interface HealthExclusions {
  /** The process is live even if its datastores are not. */
  readonly live: readonly string[];
  /** An API server without its Events still serves. */
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
