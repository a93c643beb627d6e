import type { RequestOptions } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, request } from 'undici';

/** How often client-go comes back, too (k8s.io/client-go/rest/request.go, `maxRetries`). */
const mostRetries = 10;

/** The API server refused a request; `code` is the HTTP status. */
export class ApiError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
  }
}

/** One request, its path and query relative to the server. */
export interface ApiRequest {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/**
 * Sends plain JSON to the API server of a kubeconfig and back, unchanged: @kubernetes/client-node itself passes objects
 * through its models, which lose fields such as `x-kubernetes-preserve-unknown-fields`.
 */
export class ApiConnection {
  readonly #config: KubeConfig;
  readonly #resources = new Map<string, Promise<ResourceList>>();
  #access: Promise<{ readonly agent: Agent; readonly headers: Record<string, string> }> | undefined;

  #repeated = 0;

  constructor(config: KubeConfig) {
    this.#config = config;
  }

  /** How many requests were sent again because the server wanted them later. */
  get repeated(): number {
    return this.#repeated;
  }

  /**
   * A server that is busy, starting or stopping and says Retry-After is asked again, as client-go does it for every client. @throws ApiError for a refusal, and what undici throws when there is no answer within 30 s.
   */
  async send<T>({ method, path, query, body, contentType }: ApiRequest): Promise<T> {
    const server = this.#config.getCurrentCluster()?.server;
    if (server === undefined) throw new Error('The kubeconfig has no current cluster.');
    this.#access ??= this.#open();
    const { agent, headers } = await this.#access;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await request(new URL(path, server), {
        method,
        dispatcher: agent,
        headersTimeout: 30_000,
        bodyTimeout: 30_000,
        headers: { ...headers, accept: 'application/json', 'content-type': contentType ?? 'application/json' },
        query,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode < 300) return JSON.parse(text) as T;
      const later = Number(answer.headers['retry-after']);
      const isBusy = answer.statusCode === 429 || answer.statusCode >= 500;
      if (!isBusy || !(later > 0) || attempt > mostRetries) {
        throw new ApiError(answer.statusCode, `${answer.statusCode} ${messageOf(text)}`);
      }
      this.#repeated += 1;
      await pause(later * 1000);
    }
  }

  /**
   * Path of an object, or of the collection when there is no name. A kind that is not known yet is asked for again.
   * @throws ApiError 404 when the server does not know the kind.
   */
  async pathOf(apiVersion: string, kind: string, name?: string, namespace?: string): Promise<string> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const resource = (await this.#find(root, kind, false)) ?? (await this.#find(root, kind, true));
    if (resource === undefined) throw new ApiError(404, `404 the server does not know ${kind} of ${apiVersion}`);
    const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
    return `${root}${scope}/${resource.name}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
  }

  /** Ends its connections; the next request opens another. */
  async close(): Promise<void> {
    const access = this.#access;
    this.#access = undefined;
    await (await access)?.agent.close();
  }

  async #find(root: string, kind: string, again: boolean): Promise<ResourceList['resources'][number] | undefined> {
    if (again) this.#resources.delete(root);
    const asked = this.#resources.get(root) ?? this.send<ResourceList>({ method: 'GET', path: root });
    this.#resources.set(root, asked);
    try {
      return (await asked).resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
    } catch (error) {
      this.#resources.delete(root);
      throw error;
    }
  }

  async #open(): Promise<{ readonly agent: Agent; readonly headers: Record<string, string> }> {
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const { ca, cert, key, rejectUnauthorized, servername } = options;
    const connect = Object.fromEntries(
      Object.entries({ ca, cert, key, rejectUnauthorized, servername }).filter(([, value]) => value !== undefined),
    );
    return { agent: new Agent({ connect }), headers: { ...(options.headers as Record<string, string> | undefined) } };
  }
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text.slice(0, 1000);
  } catch {
    // Not every refusal is a Status object; then its text says it.
    return text.slice(0, 1000);
  }
}
