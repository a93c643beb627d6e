import { afterEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { activatorObjects, annotations, labels, ports, stewardGroup } from '../../api/names.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { ReadyPods } from './ready-pods.ts';
import type { PodAddress } from './ready-pods.ts';
import { essential, portTable, TenantTable, tenantSlices } from './tenant-table.ts';

const key = { namespace: 'steward-system', name: activatorObjects.ports };
const managedBy = 'endpointslice.kubernetes.io/managed-by';
const bySelector = { [managedBy]: 'endpointslice-controller.k8s.io' };
/** What the manager makes. */
const ours = { component: 'activator', made: { [managedBy]: stewardGroup } };

interface Slice {
  readonly namespace?: string;
  readonly name: string;
  readonly of?: string;
  readonly service?: string;
  readonly component?: string;
  readonly made?: Readonly<Record<string, string>>;
  readonly nodes?: string;
  readonly early?: string;
  readonly endpoints?: readonly object[] | null;
  readonly port?: string;
}

function slice({ namespace = 'tenants', name, of = 'shop', component = 'service', made = bySelector, ...more }: Slice) {
  const carried = {
    [labels.name]: of,
    [labels.component]: component,
    'kubernetes.io/service-name': more.service ?? of,
    ...made,
  };
  const told = {
    ...(more.nodes !== undefined && { [annotations.nodeAddresses]: more.nodes }),
    ...(more.early !== undefined && { [annotations.passedEarly]: more.early }),
  };
  const noted = Object.keys(told).length === 0 ? {} : { annotations: told };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, name, labels: carried, ...noted },
    addressType: 'IPv4',
    endpoints:
      more.endpoints === undefined ? [{ addresses: ['192.0.2.1'], conditions: { ready: true } }] : more.endpoints,
    ports: [
      { name: 'other', port: 1 },
      { name: more.port ?? ports.apiServer, port: 6443, protocol: 'TCP' },
    ],
  };
}

/** What an activator knows of a cluster in memory. */
class Known {
  readonly cluster = new FakeCluster();
  readonly clock = new FakeClock();
  readonly informers = new InformerFactory({ cluster: this.cluster, transform: essential });
  readonly pods = new ReadyPods();
  /** Pods that start, by tenant. */
  readonly starting = new Map<string, readonly PodAddress[]>();
  readonly table = new TenantTable({
    clock: this.clock,
    ports: this.informers.informer(portTable('steward-system')),
    slices: this.informers.informer(tenantSlices),
  });

  async start(): Promise<void> {
    await this.informers.synced();
    this.table.follow({ pods: this.pods, starting: this.starting });
  }

  async put(one: Slice): Promise<void> {
    await this.cluster.seed(kinds.EndpointSlice, slice(one));
    await settle();
  }

  async delete(name: string): Promise<void> {
    await this.cluster.admin.delete(kinds.EndpointSlice, { namespace: 'tenants', name });
    await settle();
  }

  isLed(): boolean {
    return this.table.called('tenants/shop').isLed();
  }
}

const open: Known[] = [];
afterEach(async () => {
  for (const known of open.splice(0)) await known.informers.close();
});

async function known(): Promise<Known> {
  const one = new Known();
  open.push(one);
  await one.start();
  return one;
}

describe('What the activator knows', () => {
  test('is the tenant of each port, and changes with the table', async () => {
    const { cluster, table } = await known();
    expect(table.ports().size).toBe(0);
    let changes = 0;
    table.onPorts(() => (changes += 1));
    const data = { '20001': 'tenants/shop', '29999': 'other/shop' };
    await cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data });
    await settle();
    expect([...table.ports()]).toEqual([
      [20001, 'tenants/shop'],
      [29999, 'other/shop'],
    ]);
    expect(changes).toBe(1);
  });

  test('leaves out what is no port of the activator and no tenant', async () => {
    const { cluster, table } = await known();
    const data = { '22': 'tenants/shop', '30000': 'tenants/shop', x: 'tenants/shop', '20002': 'shop', '20003': '/x' };
    await cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data });
    await settle();
    expect(table.ports().size).toBe(0);
  });

  test('is the table of its own namespace alone', async () => {
    const { cluster, table } = await known();
    const metadata = { ...key, namespace: 'tenants' };
    await cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { '20001': 'a/b' } });
    await settle();
    expect(table.ports().size).toBe(0);
  });

  test('are the ready pods of a tenant, in all slices of the selector', async () => {
    const { pods, put } = await known().then((one) => ({ pods: one.pods, put: one.put.bind(one) }));
    await put({ name: 'shop-1', endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }] });
    expect(pods.of('tenants/shop')).toEqual([]);
    await put({ name: 'shop-2' });
    await put({ name: 'shop-3', endpoints: [{ addresses: ['192.0.2.3'] }] });
    expect(pods.of('tenants/shop')).toEqual([
      { host: '192.0.2.1', port: 6443 },
      { host: '192.0.2.3', port: 6443 },
    ]);
    expect(pods.of('tenants/other')).toEqual([]);
  });

  test('changes when pods go, and when a slice is deleted', async () => {
    const one = await known();
    await one.put({ name: 'shop-1' });
    await one.put({ name: 'shop-2', endpoints: [{ addresses: ['192.0.2.2'] }] });
    await one.put({ name: 'shop-1', endpoints: null });
    expect(one.pods.of('tenants/shop')).toEqual([{ host: '192.0.2.2', port: 6443 }]);
    await one.delete('shop-2');
    expect(one.pods.of('tenants/shop')).toEqual([]);
  });

  test.each<[string, Partial<Slice>]>([
    ['of another namespace', { namespace: 'strangers' }],
    ['that no selector of a Service has made', { made: {} }],
    ['of the activator itself', ours],
    ['of another Service, which has the labels of the tenant’s', { service: 'mine' }],
    ['of another part', { component: 'rollout' }],
    ['without the port of kube-apiserver', { port: 'konnectivity' }],
  ])('are no pods in a slice %s', async (_name, more) => {
    const one = await known();
    await one.put({ name: 'shop-1', ...more });
    expect(one.pods.of('tenants/shop')).toEqual([]);
  });

  test.each<[string, readonly string[], Partial<Slice>]>([
    ['that runs and is not ready, of a tenant whose calls are passed early', ['192.0.2.1'], { early: 'true' }],
    ['of a tenant whose pods have to be ready', [], { early: 'false' }],
    ['of a tenant of which nothing is said', [], {}],
  ])('is each pod that starts, %s', async (_name, hosts, led) => {
    const one = await known();
    const made = { ...ours, endpoints: [] };
    await one.put({ name: 'shop-a', ...made, ...led });
    await one.put({ name: 'stranger', namespace: 'strangers', ...made, early: 'true' });
    await one.put({ name: 'mine', ...made, service: 'mine', early: 'true' });
    await one.put({ name: 'mirrored', endpoints: [], early: 'true' });
    const endpoints = [
      { addresses: ['192.0.2.1'], conditions: { ready: false, serving: false, terminating: false } },
      { addresses: ['192.0.2.2'], conditions: { ready: false, serving: true, terminating: true } },
      { addresses: ['192.0.2.3'], conditions: { ready: true } },
    ];
    await one.put({ name: 'shop-1', endpoints });
    expect(one.starting.get('tenants/shop')).toEqual(hosts.map((host) => ({ host, port: 6443 })));
    expect(one.pods.of('tenants/shop')).toEqual([{ host: '192.0.2.3', port: 6443 }]);
  });

  test('are the nodes of a tenant, as its slices in its namespace say', async () => {
    const one = await known();
    const is = (peer: string) => one.table.called('tenants/shop').background.has(peer);
    await one.put({ name: 'other', namespace: 'strangers', ...ours, nodes: '198.51.100.7' });
    await one.put({ name: 'shop-a', ...ours, nodes: '10.0.0.1,2001:db8::1,no address' });
    expect(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8:0::1', '10.0.0.2', '198.51.100.7'].map(is)).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
    await one.put({ name: 'shop-a', ...ours, nodes: '10.0.0.2' });
    expect(['10.0.0.1', '10.0.0.2'].map(is)).toEqual([false, true]);
    await one.put({ name: 'shop-a', ...ours });
    expect(is('10.0.0.2')).toBe(false);
  });

  test('are no more than two thousand addresses of nodes', async () => {
    const one = await known();
    const address = (index: number): string => `10.0.${Math.floor(index / 250)}.${index % 250}`;
    await one.put({
      name: 'shop-a',
      ...ours,
      nodes: Array.from({ length: 2_500 }, (_, index) => address(index)).join(),
    });
    const is = (index: number) => one.table.called('tenants/shop').background.has(address(index));
    expect([0, 1_999, 2_000].map(is)).toEqual([true, true, false]);
  });

  test('is nothing more of a tenant whose slices are gone', async () => {
    const one = await known();
    await one.put({ name: 'shop-a', ...ours, nodes: '10.0.0.1' });
    await one.put({ name: 'shop-1' });
    expect(one.table.called('tenants/shop').background.has('10.0.0.1')).toBe(true);
    expect(one.table.remembered).toBe(1);
    await one.delete('shop-a');
    await one.delete('shop-1');
    expect(one.table.remembered).toBe(0);
  });
});

describe('Whether calls of a tenant lead to the activator', () => {
  const empty = { name: 'shop-a', ...ours, endpoints: [] };
  const led = { name: 'shop-a', ...ours };
  const later = { ...ours, name: 'shop-b', endpoints: [] };

  test('is so while one of the manager’s slices has endpoints, and half a minute longer', async () => {
    const one = await known();
    await one.put(led);
    await one.put(later);
    await one.clock.advance(3_600_000);
    expect(one.isLed()).toBe(true);
    await one.put(empty);
    await one.clock.advance(29_999);
    expect(one.isLed()).toBe(true);
    await one.put({ ...empty, nodes: '10.0.0.1' });
    await one.clock.advance(1);
    expect(one.isLed()).toBe(false);
    await one.put(led);
    expect(one.isLed()).toBe(true);
  });

  test('is assumed in the half minute after a start, because it may have been so before', async () => {
    const one = await known();
    await one.put(empty);
    await one.clock.advance(29_999);
    expect(one.isLed()).toBe(true);
    await one.clock.advance(1);
    expect(one.isLed()).toBe(false);
  });

  test.each<[string, Slice]>([
    ['another namespace', { ...led, namespace: 'strangers' }],
    ['another tenant', { ...led, of: 'other' }],
    ['another Service', { ...led, service: 'mine' }],
    ['the selector of a Service', { ...led, made: bySelector }],
    ['its own pods', { ...led, component: 'service' }],
  ])('is not said by a slice of %s', async (_name, slice) => {
    const one = await known();
    await one.clock.advance(30_000);
    await one.put(slice);
    expect(one.isLed()).toBe(false);
  });
});

describe('Whoever waits for pods', () => {
  test('is told when one is ready, once', async () => {
    const pods = new ReadyPods();
    const { signal } = new AbortController();
    const waiting = [pods.until('a/b', signal), pods.until('a/b', signal)];
    pods.set('a/other', [{ host: '192.0.2.9', port: 1 }]);
    pods.set('a/b', [{ host: '192.0.2.1', port: 2 }]);
    expect(await Promise.all(waiting)).toEqual(Array(2).fill([{ host: '192.0.2.1', port: 2 }]));
  });

  test('is told of a pod that answers, which does not count as ready for others', async () => {
    const pods = new ReadyPods();
    const { signal } = new AbortController();
    const waiting = pods.until('a/b', signal);
    pods.tell('a/b', [{ host: '192.0.2.1', port: 2 }]);
    expect(await waiting).toEqual([{ host: '192.0.2.1', port: 2 }]);
    expect(pods.of('a/b')).toEqual([]);
  });

  test('waits no longer than its signal, and is forgotten', async () => {
    const pods = new ReadyPods();
    const stop = new AbortController();
    const waiting = pods.until('a/b', stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(pods.until('a/b', stop.signal)).rejects.toThrow('enough');
    pods.set('a/b', [{ host: '192.0.2.1', port: 2 }]);
    expect(pods.of('a/b')).toHaveLength(1);
  });
});
