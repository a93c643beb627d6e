import { kinds } from '../../../api/core/kinds.ts';
import type { EndpointSlice } from '../../../api/core/kinds.ts';
import type { SleepSpec } from '../../../api/embedded/sleep.ts';
import type { Resource } from '../../../api/meta.ts';
import { activatorObjects } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import { tenantControlPlaneWith } from '../../builders/tenant-control-plane.ts';
import { emptyInformers } from '../../fake/empty-informers.ts';
import { selects } from '../../fake/selectors.ts';
import { TenantWorld } from '../tenant-world.ts';

const operator = 'steward-system';
/** The table of ports. */
export const tableKey = { namespace: operator, name: activatorObjects.ports };
/** The requests to wake up. */
export const requestsKey = { namespace: operator, name: activatorObjects.wakeRequests };
/** A schedule. */
export const nights = { sleep: '0 20 * * *', wake: '0 7 * * *' };
const bySelector = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };

/** A slice of the selector of a Service. */
export const sliceOf = (namespace: string, service: string, addresses: readonly string[], nodeName?: string) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace, name: `${service}-abc`, labels: { 'kubernetes.io/service-name': service, ...bySelector } },
  addressType: 'IPv4',
  // As an API server answers.
  endpoints:
    addresses.length === 0
      ? null
      : addresses.map((address) => ({ addresses: [address], conditions: { ready: true }, nodeName })),
  ports: [{ name: 'kube-apiserver', port: 6443, protocol: 'TCP' }],
});

/** A control plane that an activator is beside. */
export class WakingWorld extends TenantWorld {
  constructor(options: ConstructorParameters<typeof TenantWorld>[0] = {}) {
    super({
      start: new Date('2030-01-01T12:00:00Z'),
      migrations: {
        namespace: operator,
        image: () => Promise.resolve('steward'),
        serviceAccount: 'steward-migrate',
        minimumHoldMs: 0,
      },
      informers: (world) => ({
        informer: <T extends Resource>(selection: Parameters<typeof emptyInformers.informer>[0]): Informer<T> => {
          const isMeant = selection.namespace === operator && selection.kind.kind !== 'Job';
          const list = (): readonly Resource[] =>
            world.cluster
              .everything()
              .filter((one) => isMeant && one.kind === selection.kind.kind && selects(selection)(one))
              .map((one) => {
                const { name = '', uid = '', resourceVersion = '' } = one.metadata;
                return { ...one, metadata: { ...one.metadata, name, uid, resourceVersion } };
              });
          const informer: Informer = {
            ...emptyInformers.informer(selection),
            list,
            get: ({ name }) => list().find(({ metadata }) => metadata.name === name),
          };
          return informer as Informer<T>;
        },
      }),
      ...options,
    });
  }

  /** A control plane that is Ready at noon, beside activators with these addresses. */
  static async ready(
    sleep: SleepSpec = { schedules: [nights], wakeOn: ['Request', 'Schedule'] },
    activators: readonly string[] = ['10.0.0.1', '10.0.0.2'],
    options: ConstructorParameters<typeof TenantWorld>[0] = {},
  ): Promise<WakingWorld> {
    const world = new WakingWorld(options);
    await world.activators(activators);
    await world.create({ spec: { dataStore: 'default', sleep } });
    await world.serve('10.1.0.1');
    await world.settle();
    return world;
  }

  async activators(addresses: readonly string[]): Promise<void> {
    await this.cluster.seed(kinds.EndpointSlice, sliceOf(operator, activatorObjects.service, addresses, 'node-1'));
  }

  /** Another control plane, which nobody works on here. */
  async beside(namespace: string, name: string): Promise<void> {
    await this.cluster.seed(tenantControlPlane, { ...tenantControlPlaneWith({}), metadata: { namespace, name } });
  }

  /** What the selector of the Service finds. */
  async serve(...addresses: readonly string[]): Promise<void> {
    await this.cluster.seed(kinds.EndpointSlice, sliceOf('default', 'tenant', addresses));
  }

  /** Lets the time come, as in `2030-01-01T20:00:00Z`, and reconciles. */
  async at(time: string): Promise<void> {
    await this.clock.advance(Date.parse(time) - this.clock.now().getTime());
    await this.settle();
  }

  /** Its night begins: it sleeps by its schedule. */
  async night(): Promise<void> {
    await this.serve();
    await this.at('2030-01-01T22:00:00Z');
    if ((await this.pods()) !== 0) throw new Error('it does not sleep');
  }

  /** What the activator writes. */
  async call(time = this.clock.now().toISOString()): Promise<void> {
    const body = { data: { 'default.tenant': time } };
    await this.cluster.admin.patch(kinds.ConfigMap, requestsKey, { type: 'merge', body });
    await this.settle();
  }

  async pods(): Promise<number | undefined> {
    return (await this.deployment())?.spec?.replicas;
  }

  async requests(): Promise<readonly string[]> {
    return Object.keys((await this.cluster.admin.get(kinds.ConfigMap, requestsKey))?.data ?? {});
  }

  async table(): Promise<Readonly<Record<string, string>> | undefined> {
    return (await this.cluster.admin.get(kinds.ConfigMap, tableKey))?.data;
  }

  slice(): Promise<EndpointSlice | undefined> {
    return this.cluster.admin.get(kinds.EndpointSlice, { namespace: 'default', name: 'tenant-ipv4-activator' });
  }

  /** Where calls are led besides the pods of the tenant. */
  async led(): Promise<readonly string[] | undefined> {
    return (await this.slice())?.endpoints?.flatMap(({ addresses }) => addresses);
  }
}
