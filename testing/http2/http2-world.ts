import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Connection } from '../../runtime/client/connection.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import type { ClusterOptions } from '../../runtime/client/http-cluster.ts';
import { Http2Sessions } from '../../runtime/client/http2/http2-sessions.ts';
import { Http2Servers } from './http2-servers.ts';

/** Answers a request of a client. */
export type Answer = (stream: ServerHttp2Stream, path: string, method: string) => void;

/** A client, and the sessions that it uses. */
export interface Client {
  readonly cluster: Cluster;
  readonly sessions: Http2Sessions;
}

/** Servers, and clients of them whose calls go over HTTP/2. Disposing of it closes all of them. */
export class Http2World implements AsyncDisposable {
  readonly servers = new Http2Servers();
  readonly #clients: Cluster[] = [];

  /** A client of any server. */
  clientOf(connection: Connection, options: Partial<ClusterOptions> = {}): Client {
    const { clock = systemClock } = options;
    const sessions = options.sessions ?? new Http2Sessions({ clock, random: () => 0 });
    const cluster = openCluster(connection, { name: 'tenant', clock, ...options, sessions });
    this.#clients.push(cluster);
    return { cluster, sessions };
  }

  /** A server over HTTP/2 without TLS, and a client of it. */
  async serve(
    answer: Answer,
    options: Partial<ClusterOptions> = {},
  ): Promise<Client & { readonly opened: ServerHttp2Session[]; readonly connection: Connection }> {
    const { url, opened } = await this.servers.serve((stream, headers) => {
      answer(stream, headers[':path'] ?? '', headers[':method'] ?? '');
    });
    const connection = { server: url };
    return { ...this.clientOf(connection, options), opened, connection };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((cluster) => cluster.close()));
    this.servers[Symbol.dispose]();
  }
}
