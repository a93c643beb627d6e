import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import type { Situation } from './situation.ts';

/** A command with the names of this control plane for `<namespace>`, `<name>`, `<datastore>` and `<cluster>`. */
export function filledIn(command: string, situation: Situation): string {
  const { namespace, name, tenantControlPlane: tcp, cluster, managerNamespace } = situation;
  const store = tcp?.status?.storage?.dataStoreName ?? tcp?.spec.dataStore ?? '';
  const values: Readonly<Record<string, string>> = {
    namespace,
    name,
    datastore: store === '' ? 'default' : store,
    cluster: cluster?.metadata.name ?? tcp?.metadata.labels?.[clusterNameLabel] ?? name,
  };
  return command
    .replaceAll(/<(namespace|name|datastore|cluster)>/g, (_, key: string) => values[key] ?? '')
    .replaceAll('-n steward-system ', `-n ${managerNamespace} `);
}
