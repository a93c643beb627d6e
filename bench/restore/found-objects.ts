import type { ApiConnection } from '../../e2e/cluster/api-connection.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { FoundObject } from './written-history.ts';

/** Objects of one page. */
const pageLength = 500;

/** A ConfigMap that the control plane itself makes in every namespace, with the CA of each. */
const ownConfigMap = 'kube-root-ca.crt';

/** A ConfigMap as it is compared: the very text that was answered, but for its kind, which lists leave out, and its version. */
export function foundObject({ metadata, ...object }: PlainObject): FoundObject {
  const without = (value: object, ...fields: readonly string[]): object =>
    Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));
  const rest = without(object, 'apiVersion', 'kind');
  return {
    body: object.data?.text ?? '',
    text: JSON.stringify({ metadata: without(metadata ?? {}, 'resourceVersion'), ...rest }),
  };
}

/** All ConfigMaps of a namespace by their names. */
export async function findObjects(
  connection: ApiConnection,
  namespace: string,
): Promise<ReadonlyMap<string, FoundObject>> {
  const found = new Map<string, FoundObject>();
  for (let from: string | undefined = ''; from !== undefined;) {
    const { items, metadata }: ConfigMapList = await connection.send<ConfigMapList>({
      ...{ method: 'GET', path: `/api/v1/namespaces/${namespace}/configmaps` },
      query: { limit: String(pageLength), ...(from !== '' && { continue: from }) },
    });
    for (const item of items) found.set(item.metadata?.name ?? '', foundObject(item));
    from = metadata.continue === '' ? undefined : metadata.continue;
  }
  found.delete(ownConfigMap);
  return found;
}

interface ConfigMapList {
  readonly items: readonly PlainObject[];
  readonly metadata: { readonly continue?: string };
}

/** Names of objects that only one side has, or that differ, with what each says. */
export function differencesOf(
  before: ReadonlyMap<string, FoundObject>,
  after: ReadonlyMap<string, FoundObject>,
): readonly string[] {
  const shown = (object: FoundObject | undefined): string => object?.text.slice(0, 300) ?? 'absent';
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name)?.text !== after.get(name)?.text)
    .map((name) => `${name}: ${shown(before.get(name))} → ${shown(after.get(name))}`);
}
