import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { text } from 'node:stream/consumers';

import type { KindRef, Manifest, Resource } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import type { Cluster, Selection, WatchEvent } from '../../../runtime/client/cluster.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { apiPlace } from './api-place.ts';
import type { ApiPlace } from './api-place.ts';

/** A request over HTTP/1.1 or HTTP/2. */
export type StandInRequest = IncomingMessage | Http2ServerRequest;

/** What both protocols' answers have in common. */
export interface StandInResponse {
  readonly headersSent: boolean;
  writeHead(code: number, headers: Readonly<Record<string, string | number>>): unknown;
  write(text: string): unknown;
  end(text: string): unknown;
  destroy(): unknown;
  once(event: 'close', closed: () => void): unknown;
  /** Both have it; the types of HTTP/2 do not say so. */
  flushHeaders?(): void;
}

interface Asked {
  readonly place: ApiPlace;
  readonly query: URLSearchParams;
  /** Only metadata is wanted. */
  readonly metadataOnly: boolean;
  readonly contentType: string;
}

/** A real server sends one about so often to those who ask for them. */
const bookmarkMs = 60_000;
const initialEventsEnd = 'k8s.io/initial-events-end';
const json = { 'content-type': 'application/json' } as const;

/** Answers one request of the Kubernetes API from the objects of a cluster, as an API server does. */
export async function answerRequest(
  cluster: Cluster,
  request: StandInRequest,
  response: StandInResponse,
): Promise<void> {
  try {
    await answer(cluster, request, response);
  } catch (error) {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const { code, reason, message } = error instanceof ApiError ? error : internal(error);
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
    send(response, code, JSON.stringify(status));
  }
}

function internal(error: unknown): ApiError {
  return new ApiError(500, 'InternalError', error instanceof Error ? error.message : String(error));
}

async function answer(cluster: Cluster, request: StandInRequest, response: StandInResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://tenant');
  const place = apiPlace(pathname);
  if (place === undefined) {
    send(response, 200, await cluster.text(pathname));
    return;
  }
  const contentType = request.headers['content-type'] ?? '';
  const metadataOnly = (request.headers.accept ?? '').includes('as=PartialObjectMetadata');
  const asked: Asked = { place, query, metadataOnly, contentType };
  if (request.method === 'GET' && query.get('watch') === 'true') await watch(cluster, asked, response);
  else if (request.method === 'GET') send(response, 200, await read(cluster, asked));
  else await write(cluster, asked, { request, response });
}

function send(response: StandInResponse, code: number, body: string): void {
  response.writeHead(code, { ...json, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

const keyOf = ({ namespace, name = '' }: ApiPlace): { readonly namespace?: string; readonly name: string } => ({
  namespace,
  name,
});

function selectionOf({ place, query }: Asked): Selection {
  const [labelSelector, fieldSelector] = ['labelSelector', 'fieldSelector'].map((name) => query.get(name) ?? undefined);
  return { namespace: place.namespace, labelSelector, fieldSelector };
}

async function read(cluster: Cluster, asked: Asked): Promise<string> {
  const { place, query, metadataOnly } = asked;
  const { kind } = place;
  if (place.name !== undefined) {
    const found = await cluster.get(kind, keyOf(place));
    if (found === undefined) throw notFound(place);
    return JSON.stringify(found);
  }
  const limit = Number(query.get('limit') ?? 0);
  const page = limit === 0 ? {} : { page: { limit, from: query.get('continue') ?? undefined } };
  const { items, resourceVersion, next } = await cluster.list(kind, { ...selectionOf(asked), metadataOnly, ...page });
  const type = metadataOnly
    ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
    : { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind) };
  const shown = metadataOnly ? items.map(partial) : items;
  return JSON.stringify({ ...type, metadata: { resourceVersion, continue: next }, items: shown });
}

const partial = ({ metadata }: Resource): object => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

async function watch(cluster: Cluster, asked: Asked, response: StandInResponse): Promise<void> {
  const { place, query, metadataOnly } = asked;
  const { kind } = place;
  const isInitial = query.get('sendInitialEvents') === 'true';
  const resourceVersion = isInitial ? undefined : (query.get('resourceVersion') ?? undefined);
  const ended = new AbortController();
  const end = (): void => {
    ended.abort();
  };
  const limit = setTimeout(end, Number(query.get('timeoutSeconds') ?? 1800) * 1000);
  response.once('close', end);
  let newest = resourceVersion ?? '0';
  response.writeHead(200, json);
  const line = (event: object): void => void response.write(`${JSON.stringify(event)}\n`);
  const bookmarks = query.get('allowWatchBookmarks') === 'true';
  const remind = (): void => {
    line(bookmark(kind, newest));
  };
  const timer = bookmarks ? setInterval(remind, bookmarkMs) : undefined;
  // A client waits for the beginning of the answer, also while nothing changes.
  response.flushHeaders?.();
  try {
    const options = { ...selectionOf(asked), metadataOnly, resourceVersion, signal: ended.signal };
    for await (const event of cluster.watch(kind, options)) {
      newest = 'object' in event ? event.object.metadata.resourceVersion : event.resourceVersion;
      line(shownEvent(kind, event, metadataOnly));
    }
  } catch (error) {
    if (error instanceof ApiError) {
      const { code, reason, message } = error;
      line({ type: 'ERROR', object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message } });
    } else if (!ended.signal.aborted) throw error;
  } finally {
    clearTimeout(limit);
    clearInterval(timer);
  }
  response.end('');
}

function shownEvent(kind: KindRef, event: WatchEvent<Resource>, metadataOnly: boolean): object {
  if ('object' in event) return metadataOnly ? { type: event.type, object: partial(event.object) } : event;
  return bookmark(kind, event.resourceVersion, event.type === 'SYNC' ? { [initialEventsEnd]: 'true' } : undefined);
}

function bookmark(kind: KindRef, resourceVersion: string, annotations?: Readonly<Record<string, string>>): object {
  const metadata = { resourceVersion, creationTimestamp: null, annotations };
  return { type: 'BOOKMARK', object: { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } };
}

async function write(
  cluster: Cluster,
  { place, query, contentType }: Asked,
  { request, response }: { readonly request: StandInRequest; readonly response: StandInResponse },
): Promise<void> {
  const { kind, subresource } = place;
  const key = keyOf(place);
  const given = await text(request);
  const body: unknown = given === '' ? {} : JSON.parse(given);
  const fieldManager = query.get('fieldManager') ?? 'unknown';
  const options = { fieldManager, subresource, dryRun: query.get('dryRun') === 'All' };
  if (request.method === 'POST') {
    send(response, 201, JSON.stringify(await cluster.create(kind, inPlace(body as Manifest, place), options)));
  } else if (request.method === 'DELETE') {
    const { preconditions, propagationPolicy: propagation } = body as DeleteBody;
    if (!(await cluster.delete(kind, key, { ...preconditions, propagation }))) throw notFound(place);
    send(response, 200, JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Success' }));
  } else if (contentType === 'application/apply-patch+yaml') {
    const made: true[] = [];
    const onCreated = (): void => {
      made.push(true);
    };
    const object = await cluster.apply(kind, inPlace(body as Manifest, place), { ...options, onCreated });
    send(response, made.length > 0 ? 201 : 200, JSON.stringify(object));
  } else if (request.method === 'PATCH') {
    const patch =
      contentType === 'application/json-patch+json'
        ? { type: 'json' as const, body: body as readonly unknown[] }
        : { type: 'merge' as const, body };
    send(response, 200, JSON.stringify(await cluster.patch(kind, key, patch, options)));
  } else throw new ApiError(405, 'MethodNotAllowed', `${request.method ?? ''} is not answered`);
}

interface DeleteBody {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** Where the path says that the object is. */
function inPlace(manifest: Manifest, { namespace, name }: ApiPlace): Manifest {
  const { metadata } = manifest;
  return {
    ...manifest,
    metadata: { ...metadata, ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) },
  };
}

function notFound({ kind, name = '' }: ApiPlace): ApiError {
  return new ApiError(404, 'NotFound', `${kind.plural} "${name}" not found`);
}
