import { describe, expect, test } from '@jest/globals';
import type {
  TenantControlPlane,
  TenantControlPlaneSpec,
} from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { validateStore } from '../validate-store.ts';

type Overrides = NonNullable<TenantControlPlaneSpec['dataStoreOverrides']>;

const drivers = new Map([
  ['default', 'etcd'],
  ['other', 'etcd'],
  ['third', 'etcd'],
  ['sql', 'PostgreSQL'],
]);
const events = { resource: '/events', dataStore: 'other' };
const secrets = { resource: '/secrets', dataStore: 'other' };
const storage = { setup: { schema: 's', user: 's' }, dataStoreName: 'default', driver: 'etcd' };
const used: TenantControlPlane['status'] = {
  storage,
  kubernetesResources: { deployment: { selector: '', name: 'tenant', namespace: 'default' } },
};

function tenant(
  dataStoreOverrides: Overrides,
  dataStore = 'default',
  status?: TenantControlPlane['status'],
): TenantControlPlane {
  return tenantControlPlaneWith({ spec: { dataStore, dataStoreOverrides }, status });
}

const errors = (tcp: TenantControlPlane, old?: TenantControlPlane): readonly string[] =>
  validateStore({ tcp, old, drivers }).map((input) => new InvalidInputError(input).message);

describe('Overrides', () => {
  test('are accepted for what kube-apiserver stores itself, several in one datastore too', () => {
    const resources = ['/events', '/secrets', 'apps/deployments', 'coordination.k8s.io/leases'];
    expect(errors(tenant(resources.map((resource) => ({ resource, dataStore: 'other' }))))).toEqual([]);
  });

  test.each([
    ['', '"" is empty: name a resource such as /events'],
    ['events', '"events" is not of the form group/resource: write /events'],
    ['secrets', '"secrets" is not of the form group/resource: write /secrets'],
    ['deployments', '"deployments" is not of the form group/resource: write apps/deployments'],
    ['apps/v1/deployments', '"apps/v1/deployments" is not of the form group/resource: write apps/deployments'],
    [
      'v1/pods',
      '"v1/pods" is not built into kube-apiserver, which stores only built-in resources elsewhere: write /pods',
    ],
    ['/Events', '"/Events" is not of the form group/resource: write /events'],
    ['/*', '"/*" is not of the form group/resource: write it as group/resource'],
    ['/events#https://evil:2379,/pods', 'is not of the form group/resource'],
    ['events.k8s.io/events', 'is stored with the events of the core group: write /events'],
    ['apiextensions.k8s.io/customresourcedefinitions', 'is not built into kube-apiserver'],
    ['apiregistration.k8s.io/apiservices', 'is not built into kube-apiserver'],
    ['example.org/widgets', 'stores only built-in resources elsewhere: remove it'],
    ['constructor/name', 'is not built into kube-apiserver'],
  ])('are refused for the resource %j, with the right notation', (resource, message) => {
    const [first, ...rest] = errors(tenant([{ resource, dataStore: 'other' }]));
    expect(rest).toEqual([]);
    expect(first).toContain('spec.dataStoreOverrides[0].resource');
    expect(first).toContain(message);
  });

  test.each<readonly [string, Overrides, readonly string[]]>([
    [
      'another driver',
      [{ resource: '/events', dataStore: 'sql' }],
      [
        'spec.dataStoreOverrides[0].dataStore "sql" has driver PostgreSQL, and DataStoreOverrides can only use ETCD driver: use a DataStore with driver etcd',
      ],
    ],
    [
      'a DataStore that is not there',
      [{ resource: '/events', dataStore: 'gone' }],
      [
        'spec.dataStoreOverrides[0].dataStore "gone" names a DataStore that does not exist: create it first, or use another one',
      ],
    ],
    [
      'no DataStore',
      [{ resource: '/events' }],
      ['spec.dataStoreOverrides[0].dataStore "" is empty: use a DataStore with driver etcd'],
    ],
    [
      'a resource twice',
      [events, { resource: '/events', dataStore: 'third' }],
      [
        'spec.dataStoreOverrides[1].resource "/events" is a duplicate resource override in Spec.DataStoreOverrides: remove one of the two',
      ],
    ],
    [
      'the main DataStore',
      [{ resource: '/events', dataStore: 'default' }],
      [
        'spec.dataStoreOverrides[0].dataStore "default" is already the main DataStore: remove the override or use another DataStore',
      ],
    ],
  ])('are refused with %s', (_title, overrides, expected) => {
    expect(errors(tenant(overrides))).toEqual(expected);
  });

  test('are refused beside a datastore behind kine, with the reason', () => {
    const [message] = errors(tenant([events], 'sql'));
    expect(message).toContain('sql has driver PostgreSQL: kube-apiserver has one key prefix and one set of TLS files');
  });
});

describe('A change of overrides', () => {
  const before = tenant([events, secrets], 'default', used);

  test('is accepted as long as the tenant has no data', () => {
    expect(errors(tenant([]), tenant([events, secrets]))).toEqual([]);
    expect(errors(tenant([secrets]), tenant([]))).toEqual([]);
    const placed = tenant([events, secrets], 'default', { storage });
    expect(errors(tenant([], 'default', { storage }), placed)).toEqual([]);
  });

  test('is accepted for events, which are lost', () => {
    expect(errors(tenant([secrets], 'default', used), before)).toEqual([]);
    expect(errors(tenant([{ ...events, dataStore: 'third' }, secrets], 'default', used), before)).toEqual([]);
    expect(errors(tenant([events], 'default', used), tenant([], 'default', used))).toEqual([]);
  });

  test.each<readonly [string, Overrides, string]>([
    ['removed', [events], 'from DataStore other to the main DataStore'],
    ['moved', [events, { ...secrets, dataStore: 'third' }], 'from DataStore other to DataStore third'],
    [
      'added',
      [events, secrets, { resource: '/pods', dataStore: 'other' }],
      'from the main DataStore to DataStore other',
    ],
  ])('is refused for other resources of a tenant with data: %s', (_title, overrides, way) => {
    const [message, ...rest] = errors(tenant(overrides, 'default', used), before);
    expect(rest).toEqual([]);
    expect(message).toContain(way);
    expect(message).toContain('its objects would be left behind');
  });

  test('is not required for a datastore that is gone, as long as its override is unchanged', () => {
    const old = tenant([{ resource: '/events', dataStore: 'gone' }], 'default', { storage });
    expect(errors(old, old)).toEqual([]);
    const more = tenant([{ resource: '/events', dataStore: 'gone' }, secrets]);
    expect(errors(more, old)).toEqual([]);
  });

  test('must precede a migration of all other data', () => {
    const [message, ...rest] = errors(tenant([events, secrets], 'third', used), before);
    expect(rest).toEqual([]);
    expect(message).toBe(
      'spec.dataStore "third" cannot change while spec.dataStoreOverrides stores some resource types elsewhere: they are not migrated: remove the overrides first',
    );
    expect(errors(tenant([events], 'other', used), tenant([events], 'default', used)).join()).toContain(
      'is already the main DataStore',
    );
  });
});
