import type { Pod } from '../../api/core/kinds.ts';
import type { Draft } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';

type Status = NonNullable<Pod['status']>;
type Container = NonNullable<Status['containerStatuses']>[number];

/** The status of a container that was never ready, as JSON. */
export function containerStatus(name: string, changes: object = {}): Container {
  return {
    name,
    image: `registry.k8s.io/${name}:v1.36.3`,
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { waiting: { reason: 'ContainerCreating' } },
    ...changes,
  };
}

/** A pod of the control plane `default/tenant` with this status. */
export function troubledPod(
  status: object,
  metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  } = {},
): Draft & { readonly status: object } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: 'tenant-6d4cf56db6-x7k2p',
      labels: { [labels.name]: 'tenant' },
      ...metadata,
    },
    status: { phase: 'Pending', ...status },
  };
}
