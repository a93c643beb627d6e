import type { KindRef, NamespacedResource } from '../meta.ts';

/** How Prometheus scrapes pods, for the Prometheus Operator. */
export const podMonitor: KindRef<NamespacedResource> = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'PodMonitor',
  plural: 'podmonitors',
  namespaced: true,
};
