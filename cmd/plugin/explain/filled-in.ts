import type { Situation } from './situation.ts';

/** A command with the names of this control plane for `<namespace>`, `<name>` and `<datastore>`. */
export function filledIn(command: string, situation: Situation): string {
  const { namespace, name, tenantControlPlane: tcp, managerNamespace } = situation;
  const store = tcp?.status?.storage?.dataStoreName ?? tcp?.spec.dataStore ?? '';
  const values: Readonly<Record<string, string>> = {
    namespace,
    name,
    datastore: store === '' ? 'default' : store,
  };
  return command
    .replaceAll(/<(namespace|name|datastore)>/g, (_, key: string) => values[key] ?? '')
    .replaceAll('-n steward-system ', `-n ${managerNamespace} `);
}
