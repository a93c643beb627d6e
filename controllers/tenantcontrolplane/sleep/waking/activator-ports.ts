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
import type { LeftPorts } from './left-ports.ts';

/** So often a port is chosen again because somebody else wrote the table meanwhile. */
const mostTries = 30;

/** In so many of them ports are sought that nobody has given back. */
const mostSearches = 3;

type Table = NonNullable<ConfigMap['data']>;

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

/** So many ports one namespace may have, so that nobody takes those of all others. */
export const mostOfNamespace = 1_000;

/** A tenant that is to have a port. */
type Claimant = Key & {
  readonly uid: string;
  /** The port on record in its own status. */
  readonly recorded: number | undefined;
};

/** The port of a tenant, or why it has none. */
export type ClaimedPort = { readonly port: number } | { readonly port?: undefined; readonly trouble: string };

/**
 * Which port of the activator is for which tenant. The table is one object, and each change of it names the version that it was read at: two
 * tenants never have the same port. Whoever works on a tenant may change it.
 */
export class ActivatorPorts {
  readonly #cluster: Cluster;
  readonly #informers: Pick<InformerFactory, 'informer'>;
  readonly #key: { readonly namespace: string; readonly name: string };
  readonly #leftovers: Pick<LeftPorts, 'isDue' | 'find'>;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly informers: Pick<InformerFactory, 'informer'>;
    readonly namespace: string;
    readonly leftovers: Pick<LeftPorts, 'isDue' | 'find'>;
  }) {
    this.#cluster = parts.cluster;
    this.#informers = parts.informers;
    this.#key = { namespace: parts.namespace, name: activatorObjects.ports };
    this.#leftovers = parts.leftovers;
  }

  /** The port of a tenant, as a watch last saw it; undefined if it has none. */
  of(tcp: Key): number | undefined {
    return portIn(this.#seen(), tcp);
  }

  /** Gives a tenant its port, the same each time. Ports whose tenant is gone without having given them back are free again after a while. */
  async claim(tcp: Claimant, signal: AbortSignal): Promise<ClaimedPort> {
    const known = this.of(tcp);
    const isDue = this.#leftovers.isDue();
    if (known !== undefined && known === tcp.recorded && !isDue) return { port: known };
    return this.#change(signal, async (data, tries) => {
      const left = isDue && tries <= mostSearches ? await this.#leftovers.find(data, signal) : [];
      const given = without(data, left);
      const found = portIn(given, tcp);
      if (found !== undefined && found === tcp.recorded) return { changes: freed(left), result: { port: found } };
      return give(tcp, given, { left, found });
    });
  }

  /** Takes the port of a tenant away. */
  async release(tcp: Key, signal: AbortSignal): Promise<void> {
    if (this.of(tcp) === undefined) return;
    await this.#change(signal, (data) => {
      const port = portIn(data, tcp);
      return { changes: port === undefined ? {} : freed([String(port)]), result: undefined };
    });
  }

  #seen(): Table {
    if (this.#key.namespace === '') return {};
    return this.#informers.informer(selection(this.#key.namespace)).get(this.#key)?.data ?? {};
  }

  /** Reads the table and changes it, unless it has changed meanwhile: then both again. */
  async #change<T>(
    signal: AbortSignal,
    decide: (data: Table, tries: number) => Decision<T> | Promise<Decision<T>>,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const { data = {}, metadata } = await this.#table(signal);
      const { changes, result } = await decide(data, tries);
      if (Object.keys(changes).length === 0) return result;
      const body = { metadata: { resourceVersion: metadata.resourceVersion }, data: changes };
      try {
        await this.#cluster.patch(kinds.ConfigMap, this.#key, { type: 'merge', body }, { signal });
        return result;
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 409) || tries === mostTries) throw error;
      }
    }
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

/** A change of the table, and what it means for who requested it. */
interface Decision<T> {
  readonly changes: Readonly<Record<string, string | null>>;
  readonly result: T;
}

/**
 * Gives a tenant a port. One that is there under its name but not on its record may be that of a former tenant, which somebody is just
 * taking away: it gets another one, so that one of both changes of the table is refused.
 */
function give(
  tcp: Claimant,
  given: Table,
  { left, found }: { readonly left: readonly string[]; readonly found: number | undefined },
): Decision<ClaimedPort> {
  const isFull = found === undefined && isNamespaceFull(tcp, given);
  const port = isFull ? undefined : choosePort(tcp.uid, (one) => given[String(one)] !== undefined);
  const changes = freed(found === undefined ? left : [...left, String(found)]);
  if (port === undefined) return { changes, result: { trouble: isFull ? fullNamespace(tcp) : fullTable } };
  return { changes: { ...changes, [String(port)]: entryOf(tcp) }, result: { port } };
}

function isNamespaceFull({ namespace = '' }: Key, given: Table): boolean {
  return Object.values(given).filter((tenant) => tenant.startsWith(`${namespace}/`)).length >= mostOfNamespace;
}

const fullTable = 'no port of the activator is free, so calls do not wake it up';

const fullNamespace = ({ namespace = '' }: Key): string =>
  `the control planes of the namespace ${namespace} have ${mostOfNamespace} ports of the activator, which is the most that one may have, so calls do not wake this one up: remove Request from spec.sleep.wakeOn of others, or move some to another namespace`;

const freed = (ports: readonly string[]): Readonly<Record<string, null>> =>
  Object.fromEntries(ports.map((port) => [port, null]));

const without = (data: Table, ports: readonly string[]): Table =>
  Object.fromEntries(Object.entries(data).filter(([port]) => !ports.includes(port)));

function portIn(data: Table, tcp: Key): number | undefined {
  const entry = Object.entries(data).find(([, tenant]) => tenant === entryOf(tcp));
  return entry === undefined ? undefined : Number(entry[0]);
}
