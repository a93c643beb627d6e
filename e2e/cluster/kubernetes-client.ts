import { setTimeout as pause } from 'node:timers/promises';

import { KubeConfig } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';

import { ApiConnection, ApiError } from './api-connection.ts';
import { slowness } from './slowness.ts';

/** The part of an object's metadata that the harness reads. */
export interface PlainMetadata {
  name?: string;
  namespace?: string;
  uid?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  creationTimestamp?: string;
  deletionTimestamp?: string;
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string }[];
}

/** Any object, as plain JSON. */
export interface PlainObject {
  apiVersion?: string;
  kind?: string;
  metadata?: PlainMetadata;
  spec?: Record<string, unknown>;
  status?: PlainStatus;
  data?: Record<string, string>;
  [field: string]: unknown;
}

/** The part of a status that most kinds share. */
export interface PlainStatus {
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
  [field: string]: unknown;
}

/** Names one object. */
export interface ObjectAddress {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** How long to wait and what for. */
export interface WaitOptions {
  /** Default: 60 000; longer on a slow machine. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** What is waited for, for the message of the time limit. */
  readonly what?: string;
  /** Appended to that message. */
  readonly diagnose?: () => Promise<string>;
}

/** A condition's type (its status must be True), or a test of the whole object; undefined: there is none. */
export type Expectation = string | ((object: PlainObject | undefined) => boolean);

/** A Kubernetes client of its own: an independent witness of what the product does. Objects come and go unchanged. */
export class KubernetesClient {
  readonly config: KubeConfig;
  readonly connection: ApiConnection;

  constructor(kubeconfig: string) {
    this.config = new KubeConfig();
    this.config.loadFromString(kubeconfig);
    this.connection = new ApiConnection(this.config);
  }

  /**
   * Applies manifests (YAML or objects) by server-side apply, in their order, taking over other managers' fields.
   * While the API server does not answer or does not know a kind yet, it tries again until `timeoutMs` (default 30 000).
   */
  async apply(manifests: string | readonly PlainObject[], timeoutMs = 30_000): Promise<readonly PlainObject[]> {
    const objects = typeof manifests === 'string' ? parseManifests(manifests) : manifests;
    const deadline = Date.now() + timeoutMs * slowness();
    const applied: PlainObject[] = [];
    for (const object of objects) applied.push(await this.#applyOne(object, deadline));
    return applied;
  }

  async #applyOne(object: PlainObject, deadline: number): Promise<PlainObject> {
    const { apiVersion = '', kind = '', metadata } = object;
    for (;;) {
      try {
        return await this.connection.send<PlainObject>({
          method: 'PATCH',
          path: await this.connection.pathOf(apiVersion, kind, metadata?.name ?? '', metadata?.namespace ?? 'default'),
          query: { fieldManager: 'e2e-harness', force: 'true' },
          contentType: 'application/apply-patch+yaml',
          body: object,
        });
      } catch (error) {
        if (Date.now() > deadline || !isTransient(error)) {
          throw new Error(`Applying ${kind} ${metadata?.name ?? ''}: ${(error as Error).message}`, { cause: error });
        }
        await pause(250);
      }
    }
  }

  /** One object; undefined when there is none, or its kind is unknown. */
  async read(address: ObjectAddress): Promise<PlainObject | undefined> {
    return this.#unlessAbsent(address, async () =>
      this.connection.send<PlainObject>({ method: 'GET', path: await this.#pathOf(address) }),
    );
  }

  /** All objects of a kind, of one namespace or of all. */
  async list(apiVersion: string, kind: string, namespace?: string, labelSelector?: string): Promise<PlainObject[]> {
    const { items } = await this.connection.send<{ items: PlainObject[] }>({
      method: 'GET',
      path: await this.connection.pathOf(apiVersion, kind, undefined, namespace),
      ...(labelSelector === undefined ? {} : { query: { labelSelector } }),
    });
    return items.map((item) => ({ ...item, apiVersion, kind }));
  }

  /** Deletes an object, its dependents in the background; none is no error. */
  async delete(address: ObjectAddress): Promise<void> {
    await this.#unlessAbsent(address, async () =>
      this.connection.send({
        method: 'DELETE',
        path: await this.#pathOf(address),
        body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
      }),
    );
  }

  /** Merges a patch into an object (RFC 7386), or into a subresource such as `status`. */
  async merge(address: ObjectAddress, patch: Readonly<Record<string, unknown>>, subresource?: string): Promise<void> {
    const path = await this.#pathOf(address);
    await this.connection.send({
      method: 'PATCH',
      path: subresource === undefined ? path : `${path}/${subresource}`,
      query: { fieldManager: 'e2e-harness' },
      contentType: 'application/merge-patch+json',
      body: patch,
    });
  }

  #pathOf({ apiVersion, kind, name, namespace }: ObjectAddress): Promise<string> {
    return this.connection.pathOf(apiVersion, kind, name, namespace ?? 'default');
  }

  async #unlessAbsent<T>(address: ObjectAddress, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw new Error(`${text(address)}: ${(error as Error).message}`, { cause: error });
    }
  }

  /**
   * Waits until an object is as expected and returns it. A server that does not answer is waited for too.
   * @throws Error with what was last seen when the time is up.
   */
  async waitFor(
    address: ObjectAddress,
    expected: Expectation,
    options: WaitOptions = {},
  ): Promise<PlainObject | undefined> {
    const timeoutMs = (options.timeoutMs ?? 60_000) * slowness();
    const deadline = Date.now() + timeoutMs;
    const isMet = typeof expected === 'string' ? hasCondition(expected) : expected;
    let seen = 'nothing yet';
    for (;;) {
      options.signal?.throwIfAborted();
      try {
        const object = await this.read(address);
        if (isMet(object)) return object;
        seen =
          object === undefined ? 'it does not exist' : JSON.stringify(object.status ?? object.metadata).slice(0, 1500);
      } catch (error) {
        seen = (error as Error).message;
      }
      if (Date.now() > deadline) {
        const what = options.what ?? (typeof expected === 'string' ? `condition ${expected}` : 'the expected state');
        const more = options.diagnose === undefined ? '' : `\n${await options.diagnose()}`;
        throw new Error(`${text(address)} did not reach ${what} in ${timeoutMs / 1000} s. Last seen: ${seen}${more}`);
      }
      await pause(200, undefined, { signal: options.signal });
    }
  }
}

/** Parses YAML documents into objects; Lists are opened, empty documents left out. */
export function parseManifests(yaml: string): PlainObject[] {
  return parseAllDocuments(yaml).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const object = document.toJS() as PlainObject | null;
    if (object === null) return [];
    return Array.isArray(object.items) && object.kind?.endsWith('List') === true
      ? (object.items as PlainObject[])
      : [object];
  });
}

/** Whether an object has a condition of this type with status True, whichever generation it was told for. */
export function hasCondition(type: string): (object: PlainObject | undefined) => boolean {
  return (object) =>
    object?.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

function text({ kind, name, namespace }: ObjectAddress): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** Answers that a starting API server, a young CRD or a webhook without endpoints gives. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return [404, 409, 429].includes(error.code) || error.code >= 500 || error.message.includes('failed calling webhook');
}
