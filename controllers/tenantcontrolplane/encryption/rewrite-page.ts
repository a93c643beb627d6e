import type { Key, KindRef } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { plainText } from '../upgrade/plain-text.ts';
import { groupOf, kindIn, preferredVersion } from './served-kind.ts';

/** Objects of a page, how many are written at once and how often each is tried, and how much of a refusal is reported. */
const limits = { objects: 100, atOnce: 4, attempts: 3, reason: 256 } as const;

/** The kind of a resource as the tenant serves it; undefined when it does not, so that there are no objects. */
export async function servedKind(client: Cluster, resource: string, signal: AbortSignal): Promise<KindRef | undefined> {
  const ask = async (path: string): Promise<string> => {
    try {
      return await client.text(path, { signal });
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return '';
      throw error;
    }
  };
  const group = groupOf(resource);
  const version = group === '' ? 'v1' : preferredVersion(await ask(`/apis/${group}`));
  if (version === undefined) return undefined;
  return kindIn(await ask(group === '' ? `/api/${version}` : `/apis/${group}/${version}`), resource, version);
}

/** A page of a resource's objects. */
export interface Page {
  readonly objects: number;
  /** Where the next page begins; absent on the last one. */
  readonly next?: string | undefined;
  /** Why an object could not be written: the page has to be repeated. */
  readonly refused?: string | undefined;
}

/** Has the API server write an object again as it is: its own update, so that no change of another client is lost. */
async function writeAgain(client: Cluster, kind: KindRef, key: Key, signal: AbortSignal): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.patch(kind, key, { type: 'merge', body: {} }, { signal });
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === 429 || error.code >= 500) throw error;
      // Deleted in the meantime.
      if (error.code === 404) return undefined;
      if (error.code === 409 && attempt < limits.attempts) continue;
      const name = [key.namespace, key.name].filter((part) => part !== undefined).join('/');
      const why = error.message.replaceAll(/\s+/g, ' ').slice(0, limits.reason);
      return `${kind.plural} ${plainText(name)} cannot be written: ${why}`;
    }
  }
}

/** Has every object of a page written again, a few at once. Only names are read. */
export async function rewritePage(
  client: Cluster,
  kind: KindRef,
  from: string | undefined,
  signal: AbortSignal,
): Promise<Page> {
  let page;
  try {
    const at = { limit: limits.objects, ...(from !== undefined && { from }) };
    page = await client.list(kind, { metadataOnly: true, page: at, signal });
  } catch (error) {
    // The version at which the pages were read is gone. What was written since then is written as wanted.
    if (error instanceof ApiError && error.code === 410) return { objects: 0, next: error.next ?? '' };
    throw error;
  }
  const left = [...page.items];
  const refusals: string[] = [];
  const writer = async (): Promise<void> => {
    for (let object = left.shift(); object !== undefined; object = left.shift()) {
      const { namespace, name } = object.metadata;
      const key = kind.namespaced && namespace !== undefined ? { namespace, name } : { name };
      const refused = await writeAgain(client, kind, key, signal);
      if (refused !== undefined) refusals.push(refused);
    }
  };
  await Promise.all(Array.from({ length: limits.atOnce }, writer));
  const [refused] = refusals.sort();
  return { objects: page.items.length, next: page.next, refused };
}
