import type { KindRef, ObjectMeta, Resource } from '../../api/meta.ts';
import { statusError } from './api-status.ts';
import type { WatchEvent } from './cluster.ts';
import { UnreachableError } from './errors.ts';
import { parseJson, presentObject, storedObject } from './decode-object.ts';

/** The annotation of the bookmark that ends the initial state of a streamed list (KEP-3157). */
const initialEventsEnd = 'k8s.io/initial-events-end';

/** One line of a watch. Throws `ApiError` for an ERROR event, `UnreachableError` for what is no event. */
export function parseWatchEvent<T extends Resource>(
  kind: KindRef<T>,
  line: string,
  metadataOnly: boolean,
): WatchEvent<T> {
  const event = parseJson(line);
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw new UnreachableError('the watch sent a line that is not an event');
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: storedObject(kind, event.object, metadataOnly) };
    case 'BOOKMARK': {
      const { metadata } = presentObject(kind, event.object, true);
      const type = metadata.annotations?.[initialEventsEnd] === 'true' ? 'SYNC' : 'BOOKMARK';
      const { resourceVersion }: ObjectMeta = metadata;
      if (typeof resourceVersion !== 'string')
        throw new UnreachableError('the watch sent a bookmark without a version');
      return { type, resourceVersion };
    }
    case 'ERROR':
      throw statusError(event.object);
    default:
      throw new UnreachableError(`the watch sent an event of unknown type ${JSON.stringify(event.type).slice(0, 40)}`);
  }
}
