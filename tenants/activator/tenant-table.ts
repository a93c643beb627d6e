import { kinds } from '../../api/core/kinds.ts';
import type { ConfigMap, EndpointSlice } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import {
  activatorComponent,
  activatorObjects,
  activatorPorts,
  annotations,
  labels,
  ports,
  stewardGroup,
  tenantObjects,
} from '../../api/names.ts';
import type { Informer, InformerSelection } from '../../runtime/cache/informer.ts';
import type { Clock } from '../../runtime/clock.ts';
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
const serviceName = 'kubernetes.io/service-name';

/** Who leads callers may hear so much later that they no longer lead to the activator: kube-proxy, or an Ingress controller. In milliseconds. */
const lateMs = 30_000;

/** So many addresses of a tenant's nodes are known: of 1,000 nodes, which are as many as the manager reads, with two addresses each. */
const mostNodeAddresses = 2_000;

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

/**
 * True for the slices of the tenant's own Service. The controllers of EndpointSlices copy all other labels from the Service, so that whoever
 * may create one chooses those.
 */
function isOfOwnService({ metadata: { labels: carried } }: EndpointSlice): boolean {
  return carried?.[serviceName] === tenantObjects(carried?.[labels.name] ?? '').service;
}

const isOfSelector = ({ metadata }: EndpointSlice): boolean =>
  metadata.labels?.[labels.component] === 'service' && metadata.labels[managedBy] === bySelector;

/** True for the slices by which the manager leads calls to the activator. */
const isOfManager = ({ metadata }: EndpointSlice): boolean =>
  metadata.labels?.[labels.component] === activatorComponent && metadata.labels[managedBy] === stewardGroup;

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

export interface TenantTableOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly ports: Informer<ConfigMap>;
  readonly slices: Informer<EndpointSlice>;
}

/**
 * What the activator knows of tenants: which one each port is for, where it is ready, whether its calls lead here, and the addresses of its
 * nodes. Of a tenant without slices it knows nothing.
 */
export class TenantTable {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ports: Informer<ConfigMap>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #nodes = new Map<string, { readonly text: string; readonly addresses: CallerAddresses }>();
  /** When calls of a tenant led here last: infinite while they do. */
  readonly #led = new Map<string, number>();
  /** Calls of any tenant may have led here before. */
  #began = 0;

  constructor({ clock, ports, slices }: TenantTableOptions) {
    this.#clock = clock;
    this.#ports = ports;
    this.#slices = slices;
    this.#slices.addIndex(tenantIndex, (slice) => (isOfOwnService(slice) ? [tenantOf(slice)] : []));
  }

  /** Tenants of which the addresses of nodes are known. */
  get remembered(): number {
    return this.#nodes.size;
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
    this.#began = this.#clock.monotonic();
    this.#slices.subscribe((old, now) => {
      const tenants = new Set([old, now].flatMap((slice) => (slice === undefined ? [] : [tenantOf(slice)])));
      for (const tenant of tenants) {
        const slices = this.#slices.byIndex(tenantIndex, tenant);
        const served = slices.filter(isOfSelector);
        const isEarly = this.#ours(tenant).some(
          ({ metadata }) => metadata.annotations?.[annotations.passedEarly] === 'true',
        );
        starting.set(tenant, isEarly ? served.flatMap((slice) => podsIn(slice, isStarting)) : []);
        this.#note(tenant);
        pods.set(
          tenant,
          served.flatMap((slice) => podsIn(slice, isReady)),
        );
      }
    });
  }

  /** The slices by which the manager leads calls of a tenant here. */
  #ours(tenant: string): readonly EndpointSlice[] {
    return this.#slices.byIndex(tenantIndex, tenant).filter(isOfManager);
  }

  /** Notes whether calls of a tenant lead here now, and forgets what is known of nodes if it is out of date. */
  #note(tenant: string): void {
    const isLed = this.#ours(tenant).some(({ endpoints }) => (endpoints ?? []).length > 0);
    if (this.#slices.byIndex(tenantIndex, tenant).length === 0) this.#led.delete(tenant);
    else if (isLed) this.#led.set(tenant, Infinity);
    else if (this.#led.get(tenant) === Infinity) this.#led.set(tenant, this.#clock.monotonic());
    if (this.#nodesText(tenant) !== this.#nodes.get(tenant)?.text) this.#nodes.delete(tenant);
  }

  /** The tenant, as its connections need it. */
  called(tenant: string): CalledTenant {
    return { key: tenant, background: this.#background(tenant), isLed: () => this.#isLed(tenant) };
  }

  #isLed(tenant: string): boolean {
    return this.#clock.monotonic() - (this.#led.get(tenant) ?? this.#began) < lateMs;
  }

  #nodesText(tenant: string): string {
    const texts = this.#ours(tenant).map(({ metadata }) => metadata.annotations?.[annotations.nodeAddresses] ?? '');
    return texts.filter((one) => one !== '').join(',');
  }

  /** The addresses are read with the first call: most tenants have none for a long time. */
  #background(tenant: string): CallerAddresses {
    const text = this.#nodesText(tenant);
    if (text === '') return nobody;
    const known = this.#nodes.get(tenant);
    if (known?.text === text) return known.addresses;
    const addresses = new CallerAddresses({ addresses: text.split(',', mostNodeAddresses) });
    this.#nodes.set(tenant, { text, addresses });
    return addresses;
  }
}
