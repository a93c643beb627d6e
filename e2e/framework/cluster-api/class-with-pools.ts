import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { infrastructureVersion } from '../../infrastructure/kinds.ts';

const kind = 'NetnsMachinePoolTemplate';
const name = 'steward-netns-pool';

/** The manifests of a ClusterClass with a class of MachinePools that join as its workers do. */
export function classWithPools(manifests: readonly PlainObject[]): readonly PlainObject[] {
  const template = {
    ...{ apiVersion: infrastructureVersion, kind },
    metadata: { name, namespace: 'default' },
    spec: { template: { spec: {} } },
  };
  return [...manifests.map(withPools), template];
}

function withPools(object: PlainObject): PlainObject {
  if (object.kind !== 'ClusterClass') return object;
  const workers = object.spec?.workers as { readonly machineDeployments: readonly { readonly bootstrap: object }[] };
  const infrastructure = { templateRef: { apiVersion: infrastructureVersion, kind, name } };
  const machinePools = workers.machineDeployments.map(({ bootstrap }) => ({
    class: 'default',
    bootstrap,
    infrastructure,
  }));
  return { ...object, spec: { ...object.spec, workers: { ...workers, machinePools } } };
}
