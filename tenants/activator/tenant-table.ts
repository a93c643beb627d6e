import { kinds } from '../../api/core/kinds.ts';
import type { ConfigMap, EndpointSlice } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { activatorComponent, activatorObjects, activatorPorts, annotations, labels, ports } from '../../api/names.ts';
import type { Informer, InformerSelection } from '../../runtime/cache/informer.ts';
import type { CalledTenant } from './activator.ts';
import { CallerAddresses } from './caller-addresses.ts';
import type { PodAddress, ReadyPods } from './ready-pods.ts';
import type { StartingPods } from './starting-pods.ts';

/** The slices of tenants: those of the selectors of their Services, which have the labels of the Service, and the manager's. */
export const tenantSlices: InformerSelection<EndpointSlice> = {
  kind: kinds.EndpointSlice,
  labelSelector: `${labels.component} in (service,${activatorComponent})`,
};

/** Which tenant each port is for. Only the manager writes it. */
export const portTable = (namespace: string): InformerSelection<ConfigMap> => ({
  kind: kinds.ConfigMap,
  namespace,
  fieldSelector: `metadata.name=${activatorObjects.ports}`,
});

const bySelector = 'endpointslice-controller.k8s.io';
const managedBy = 'endpointslice.kubernetes.io/managed-by';

/** The annotations that the activator reads. */
const needed: ReadonlySet<string> = new Set([annotations.nodeAddresses, annotations.passedEarly]);

/** A slice with no more than what the activator needs: there is one for each pod of each tenant. */
export function essential<T extends Resource>(object: T): T {
  const { namespace, name, uid, resourceVersion, labels: carried, annotations: noted } = object.metadata;
  const told = Object.entries(noted ?? {}).filter(([name]) => needed.has(name));
  const metadata = { namespace, name, uid, resourceVersion, labels: carried };
  return { ...object, metadata: { ...metadata, ...(told.length > 0 && { annotations: Object.fromEntries(told) }) } };
}

function tenantOf({ metadata }: Pick<EndpointSlice, 'metadata'>): string {
  return `${metadata.namespace}/${metadata.labels?.[labels.name] ?? ''}`;
}

type Conditions = NonNullable<EndpointSlice['endpoints']>[number]['conditions'];

const isReady = (conditions: Conditions): boolean => conditions?.ready !== false;
const isStarting = (conditions: Conditions): boolean => !isReady(conditions) && conditions?.terminating !== true;

/** The addresses of pods in one slice that are as they should be. */
function podsIn(
  { endpoints, ports: served }: EndpointSlice,
  are: (conditions: Conditions) => boolean,
): readonly PodAddress[] {
  const port = served?.find(({ name }) => name === ports.apiServer)?.port;
  if (port === undefined) return [];
  // An API server answers with null where there are none.
  return (endpoints ?? []).flatMap(({ addresses, conditions }) =>
    are(conditions) ? addresses.slice(0, 1).map((host) => ({ host, port })) : [],
  );
}

const nobody = new CallerAddresses({});
const tenantIndex = 'tenant';

/** What the activator knows of tenants: which one each port is for, where it is ready, and the addresses of its nodes. */
export class TenantTable {
  readonly #ports: Informer<ConfigMap>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #nodes = new Map<string, { readonly text: string; readonly addresses: CallerAddresses }>();

  constructor(informers: { readonly ports: Informer<ConfigMap>; readonly slices: Informer<EndpointSlice> }) {
    this.#ports = informers.ports;
    this.#slices = informers.slices;
    this.#slices.addIndex(tenantIndex, (slice) => [tenantOf(slice)]);
  }

  /** The ports that have a tenant. */
  ports(): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    for (const { data } of this.#ports.list())
      for (const [text, tenant] of Object.entries(data ?? {})) {
        const port = Number(text);
        if (port >= activatorPorts.from && port <= activatorPorts.to && /^[^/]+\/[^/]+$/.test(tenant))
          found.set(port, tenant);
      }
    return found;
  }

  /** Calls back when ports may have got or lost their tenants. */
  onPorts(changed: () => void): void {
    this.#ports.subscribe(changed);
  }

  /** Keeps what is known of pods up to date. */
  follow({
    pods,
    starting,
  }: {
    readonly pods: Pick<ReadyPods, 'set'>;
    readonly starting: Pick<StartingPods, 'set'>;
  }): void {
    this.#slices.subscribe((old, now) => {
      const tenants = new Set([old, now].flatMap((slice) => (slice === undefined ? [] : [tenantOf(slice)])));
      for (const tenant of tenants) {
        const slices = this.#slices.byIndex(tenantIndex, tenant);
        const served = slices.filter(({ metadata }) => metadata.labels?.[managedBy] === bySelector);
        const isEarly = slices.some(({ metadata }) => metadata.annotations?.[annotations.passedEarly] === 'true');
        starting.set(tenant, isEarly ? served.flatMap((slice) => podsIn(slice, isStarting)) : []);
        pods.set(
          tenant,
          served.flatMap((slice) => podsIn(slice, isReady)),
        );
      }
    });
  }

  /** The tenant, as its connections need it. */
  called(tenant: string): CalledTenant {
    return { key: tenant, background: this.#background(tenant) };
  }

  #background(tenant: string): CallerAddresses {
    const slices = this.#slices.byIndex(tenantIndex, tenant);
    const text = slices
      .map(({ metadata }) => metadata.annotations?.[annotations.nodeAddresses] ?? '')
      .filter((one) => one !== '')
      .join(',');
    if (text === '') {
      this.#nodes.delete(tenant);
      return nobody;
    }
    const known = this.#nodes.get(tenant);
    if (known?.text === text) return known.addresses;
    const addresses = new CallerAddresses({ addresses: text.split(',') });
    this.#nodes.set(tenant, { text, addresses });
    return addresses;
  }
}
