import { kinds } from '../../api/core/kinds.ts';
import type { Cluster, WatchEvent } from '../../runtime/client/cluster.ts';
import type { Answer } from './http2-world.ts';

/** The one ConfigMap of servers under test, as they store it. */
export const key = { namespace: 'n', name: 'a' };
export const stored = { metadata: { ...key, uid: 'u', resourceVersion: '8' } };
export const object = JSON.stringify(stored);
export const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
export const json = { ':status': 200, 'content-type': 'application/json' };

/** A watch begins with the ConfigMap; every other request is answered with it. */
export const ok: Answer = (stream, path) => {
  stream.respond(json);
  if (path.includes('watch=true')) stream.write(`${JSON.stringify({ type: 'ADDED', object: stored })}\n`);
  else stream.end(object);
};

/** A watch of it, by a client. */
export const watchOf = (cluster: Cluster, signal = new AbortController().signal): AsyncIterator<WatchEvent<object>> =>
  cluster.watch(kinds.ConfigMap, { signal, resourceVersion: '1' })[Symbol.asyncIterator]();
