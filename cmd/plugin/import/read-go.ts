import { kinds } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { managerLabels } from '../manager-labels.ts';
import type { GoFacts } from './go-facts.ts';
import { isGoManager } from './go-facts.ts';
import { identityOf } from './identity.ts';
import type { ReadingFacts } from './reading-facts.ts';

/** Reads all that an import from the Go Steward decides by. */
export async function readGo(name: string, reading: ReadingFacts, managerNamespace: string): Promise<GoFacts> {
  const { cluster, namespace, signal, now, insideOf } = reading;
  const names = tenantObjects(name);
  const at = (own: string): Key => ({ namespace, name: own });
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const [all, managers, deployment, slices, ca, serviceAccount] = await Promise.all([
    cluster.list(tenantControlPlane, { signal }),
    cluster.list(kinds.Deployment, { namespace: managerNamespace, labelSelector: managerLabels, signal }),
    cluster.get(kinds.Deployment, at(names.deployment), { signal }),
    cluster.list(kinds.EndpointSlice, { namespace, labelSelector, signal }),
    cluster.get(kinds.Secret, at(names.ca), { signal }),
    cluster.get(kinds.Secret, at(names.serviceAccount), { signal }),
  ]);
  const tcp = all.items.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  const storeName = tcp?.status?.storage?.dataStoreName ?? '';
  const store = storeName === '' ? undefined : await cluster.get(dataStore, { name: storeName }, { signal });
  const formerManagers = managers.items.filter(isGoManager);
  return {
    ...{ namespace, name, now, tcp, store, formerManagers, deployment },
    all: all.items,
    isInstalled: managers.items.length > formerManagers.length,
    slices: slices.items,
    identity: identityOf(tcp, { ca, serviceAccount }, await insideOf(name)),
  };
}
