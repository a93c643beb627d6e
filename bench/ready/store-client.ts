import { Resolver } from 'node:dns/promises';

import type { ContentRef, DataStoreSpec } from '../../api/steward/v1alpha1/data-store.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';

/** Where etcdctl finds the administrator's files on the node. */
const folder = '/run/steward-bench';

/** Administers the tenants' etcd from outside, with the real etcdctl: what Steward does for its tenants, done by hand. */
export class StoreClient {
  readonly #cluster: ManagementCluster;
  readonly #endpoint: string;

  private constructor(cluster: ManagementCluster, endpoint: string) {
    this.#cluster = cluster;
    this.#endpoint = endpoint;
  }

  /** Opens the store of a DataStore with driver etcd. */
  static async open(cluster: ManagementCluster, dataStore: string): Promise<StoreClient> {
    const address = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: dataStore };
    const spec = (await cluster.client.read(address))?.spec as DataStoreSpec | undefined;
    const client = spec?.tlsConfig?.clientCertificate;
    const [endpoint] = spec?.endpoints ?? [];
    if (client === undefined || endpoint === undefined) {
      throw new Error(`DataStore ${dataStore} must exist and have endpoints and spec.tlsConfig.clientCertificate.`);
    }
    const files = { 'tls.crt': client.certificate, 'tls.key': client.privateKey };
    for (const [name, reference] of Object.entries(files)) {
      await cluster.machine.writeFile(`${folder}/${name}`, await contentOf(cluster, reference), '0600');
    }
    return new StoreClient(cluster, await resolveEndpoint(cluster, endpoint));
  }

  /** Lets a user, known by the common name of its client certificate, use one prefix. May be repeated. */
  async grant(user: string, prefix: string): Promise<void> {
    await this.#run(['role', 'add', user], 'role name already exists');
    await this.#run(['role', 'grant-permission', user, '--prefix=true', 'readwrite', prefix]);
    await this.#run(['user', 'add', user, '--no-password'], 'user name already exists');
    await this.#run(['user', 'grant-role', user, user]);
  }

  /** Removes user and role. May be repeated. */
  async revoke(user: string): Promise<void> {
    await this.#run(['user', 'delete', user], 'user name not found');
    await this.#run(['role', 'delete', user], 'role name not found');
  }

  /** Number of keys below a prefix. */
  async countKeys(prefix: string): Promise<number> {
    const args = ['get', prefix, '--prefix', '--count-only', '--write-out=fields'];
    const [, count] = /"Count" : (\d+)/.exec(await this.#run(args)) ?? [];
    if (count === undefined) throw new Error(`etcdctl did not say how many keys are below ${prefix}.`);
    return Number(count);
  }

  /** Names of all users and roles. */
  async accounts(): Promise<{ readonly users: readonly string[]; readonly roles: readonly string[] }> {
    const names = async (kind: string): Promise<readonly string[]> =>
      (await this.#run([kind, 'list'])).split('\n').filter((name) => name !== '');
    return { users: await names('user'), roles: await names('role') };
  }

  /** Deletes all keys below a prefix. */
  async empty(prefix: string): Promise<void> {
    await this.#run(['del', prefix, '--prefix']);
  }

  async #run(args: readonly string[], harmless?: string): Promise<string> {
    // The node knows the member by its address, which is in no certificate.
    const access = [
      `--endpoints=https://${this.#endpoint}`,
      '--insecure-skip-tls-verify',
      `--cert=${folder}/tls.crt`,
      `--key=${folder}/tls.key`,
    ];
    const { code, stdout, stderr } = await this.#cluster.machine.tryExec(['etcdctl', ...access, ...args]);
    if (code === 0 || (harmless !== undefined && stderr.includes(harmless))) return stdout;
    throw new Error(`etcdctl ${args.join(' ')}: ${stderr.trim()}`);
  }
}

async function contentOf(cluster: ManagementCluster, { content, secretReference }: ContentRef): Promise<string> {
  if (content !== undefined) return Buffer.from(content, 'base64').toString();
  const { name = '', namespace = 'default', keyPath = '' } = secretReference ?? {};
  const secret = await cluster.client.read({ apiVersion: 'v1', kind: 'Secret', namespace, name });
  const value = secret?.data?.[keyPath];
  if (value === undefined) throw new Error(`Secret ${namespace}/${name} has no key ${keyPath}.`);
  return Buffer.from(value, 'base64').toString();
}

/** The node does not use the cluster's DNS; this process can. */
async function resolveEndpoint(cluster: ManagementCluster, endpoint: string): Promise<string> {
  const [host = '', port = ''] = endpoint.split(/:(?=\d+$)/);
  const resolver = new Resolver();
  resolver.setServers([cluster.network.services.replace(/\.\d+\/\d+$/, '.10')]);
  const [address] = await resolver.resolve4(host);
  if (address === undefined) throw new Error(`${host} has no address.`);
  return `${address}:${port}`;
}
