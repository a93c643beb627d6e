import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { ApiServer } from '../api-server.ts';

/** Clients of one API server, each of another user. */
export class UserClients {
  readonly #clients = new Map<string, Cluster>();

  /** Opens the client of a user with a certificate of their own. */
  async open(server: ApiServer, user: string, groups: readonly string[] = []): Promise<Cluster> {
    const { certificate, key } = await server.clientPair(user, groups);
    const connection = { ...parseKubeconfig(server.kubeconfig), clientCert: certificate, clientKey: key };
    const client = openCluster(connection, { name: 'tenant' });
    this.#clients.set(user, client);
    return client;
  }

  /** The client of a user for whom one was opened. */
  as(user: string): Cluster {
    const found = this.#clients.get(user);
    if (found === undefined) throw new Error(`there is no client of ${user}`);
    return found;
  }

  /** Closes all of them. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((each) => each.close()));
  }
}
