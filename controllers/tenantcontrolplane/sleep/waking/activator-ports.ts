import { kinds } from '../../../../api/core/kinds.ts';
import type { ConfigMap } from '../../../../api/core/kinds.ts';
import type { Key } from '../../../../api/meta.ts';
import { activatorObjects, labels, project } from '../../../../api/names.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import type { InformerSelection } from '../../../../runtime/cache/informer.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { isAlreadyExists } from '../../../../runtime/client/is-already-exists.ts';
import type { Watch } from '../../../../runtime/reconcile/controller.ts';
import { choosePort } from './choose-port.ts';

/** So often a port is chosen again because somebody else wrote the table meanwhile. */
const mostTries = 30;

const entryOf = ({ namespace = '', name }: Key): string => `${namespace}/${name}`;

const selection = (namespace: string): InformerSelection<ConfigMap> => ({
  kind: kinds.ConfigMap,
  namespace,
  fieldSelector: `metadata.name=${activatorObjects.ports}`,
});

/** A port that somebody took away is given again. */
export function portTableWatch(namespace: string): Watch<ConfigMap> {
  return {
    ...selection(namespace),
    keys: (old, now) => {
      const left = new Set(Object.values(now?.data ?? {}));
      const gone = Object.values(old?.data ?? {}).filter((tenant) => !left.has(tenant));
      return gone.map((tenant) => {
        const [at = '', name = ''] = tenant.split('/');
        return { namespace: at, name };
      });
    },
  };
}

/**
 * Which port of the activator is for which tenant. The table is one object, and each change of it names the version that it was read at: two
 * tenants never have the same port.
 */
export class ActivatorPorts {
  readonly #cluster: Cluster;
  readonly #informers: Pick<InformerFactory, 'informer'>;
  readonly #key: { readonly namespace: string; readonly name: string };

  constructor(parts: {
    readonly cluster: Cluster;
    readonly informers: Pick<InformerFactory, 'informer'>;
    readonly namespace: string;
  }) {
    this.#cluster = parts.cluster;
    this.#informers = parts.informers;
    this.#key = { namespace: parts.namespace, name: activatorObjects.ports };
  }

  /** The port of a tenant, as a watch last saw it; undefined if it has none. */
  of(tcp: Key): number | undefined {
    if (this.#key.namespace === '') return undefined;
    const table = this.#informers.informer(selection(this.#key.namespace)).get(this.#key);
    return portIn(table?.data, tcp);
  }

  /** Gives a tenant its port, the same each time. Undefined if none is free. */
  async claim(tcp: Key & { readonly uid: string }, signal: AbortSignal): Promise<number | undefined> {
    const known = this.of(tcp);
    if (known !== undefined) return known;
    for (let tries = 1; ; tries += 1) {
      const table = await this.#table(signal);
      const { data = {}, metadata } = table;
      const port = portIn(data, tcp) ?? choosePort(tcp.uid, (one) => data[String(one)] !== undefined);
      if (port === undefined || data[String(port)] !== undefined) return port;
      const body = {
        metadata: { resourceVersion: metadata.resourceVersion },
        data: { [String(port)]: entryOf(tcp) },
      };
      try {
        await this.#cluster.patch(kinds.ConfigMap, this.#key, { type: 'merge', body }, { signal });
        return port;
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 409) || tries === mostTries) throw error;
      }
    }
  }

  /** Takes the port of a tenant away. */
  async release(tcp: Key, signal: AbortSignal): Promise<void> {
    const port = this.of(tcp);
    if (port === undefined) return;
    const body = { data: { [String(port)]: null } };
    await this.#cluster.patch(kinds.ConfigMap, this.#key, { type: 'merge', body }, { signal });
  }

  async #table(signal: AbortSignal): Promise<ConfigMap> {
    const found = await this.#cluster.get(kinds.ConfigMap, this.#key, { signal });
    if (found !== undefined) return found;
    // The activator may only patch the other one.
    await this.#create(activatorObjects.wakeRequests, signal);
    await this.#create(activatorObjects.ports, signal);
    const made = await this.#cluster.get(kinds.ConfigMap, this.#key, { signal });
    if (made === undefined) throw new Error(`ConfigMap ${activatorObjects.ports} was deleted at once`);
    return made;
  }

  async #create(name: string, signal: AbortSignal): Promise<void> {
    const metadata = { namespace: this.#key.namespace, name, labels: { [labels.project]: project } };
    try {
      await this.#cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata }, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

function portIn(data: ConfigMap['data'], tcp: Key): number | undefined {
  const entry = Object.entries(data ?? {}).find(([, tenant]) => tenant === entryOf(tcp));
  return entry === undefined ? undefined : Number(entry[0]);
}
