import type { KubernetesClient, PlainObject } from '../cluster/kubernetes-client.ts';

interface GroupList {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** Answers about other things than what is stored. */
const computed = new Set(['componentstatuses']);

/**
 * Every object of every kind that an API server lists, by its path: the very text that was answered, but for the versions, which
 * every store counts for itself.
 */
export async function dumpObjects({ connection }: KubernetesClient): Promise<ReadonlyMap<string, string>> {
  const get = <T>(path: string): Promise<T> => connection.send<T>({ method: 'GET', path });
  const { groups } = await get<GroupList>('/apis');
  const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const collections = await Promise.all(
    roots.map(async (root) =>
      (await get<ResourceList>(root)).resources
        .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list') && !computed.has(name))
        .map(({ name }) => `${root}/${name}`),
    ),
  );
  const objects = new Map<string, string>();
  for (const collection of collections.flat()) {
    const { items } = await get<{ readonly items: readonly PlainObject[] }>(collection);
    for (const { metadata, ...rest } of items) {
      const kept = Object.entries(metadata ?? {}).filter(([field]) => field !== 'resourceVersion');
      const path = `${collection} ${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
      objects.set(path, JSON.stringify({ metadata: Object.fromEntries(kept), ...rest }));
    }
  }
  return objects;
}

/** Paths of objects that only one of two dumps has, or that differ, with what each says. */
export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => `${path}: ${before.get(path) ?? 'absent'} → ${after.get(path) ?? 'absent'}`);
}
