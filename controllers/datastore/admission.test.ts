import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import type { OpenApi } from '../../api/schema.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { ContentRef, DataStore, DataStoreSpec } from '../../api/steward/v1alpha1/data-store.ts';
import { validate, validateDeletion, validateSecretDeletion, warningsAbout } from './admission.ts';

const reference = (keyPath: string, name = 'etcd-certs'): ContentRef => ({
  secretReference: { name, namespace: 'steward-system', keyPath },
});
const secrets = new Map([['steward-system/etcd-certs', new Set(['ca.crt', 'ca.key', 'tls.crt', 'tls.key'])]]);

function newStore(spec: Partial<DataStoreSpec> = {}, name = 'default'): DataStore {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name }),
    spec: {
      driver: 'etcd',
      endpoints: ['etcd-0.etcd.steward-system.svc.cluster.local:2379'],
      tlsConfig: {
        certificateAuthority: { certificate: reference('ca.crt'), privateKey: reference('ca.key') },
        clientCertificate: { certificate: reference('tls.crt'), privateKey: reference('tls.key') },
      },
      ...spec,
    },
  };
}

function withClient(certificate: ContentRef): DataStore {
  return newStore({
    tlsConfig: {
      certificateAuthority: { certificate: reference('ca.crt'), privateKey: reference('ca.key') },
      clientCertificate: { certificate, privateKey: reference('tls.key') },
    },
  });
}

const lines = (store: DataStore, old?: DataStore): readonly string[] =>
  validate({ store, old, secrets }).map(({ field, value, reason }) => `${field} ${value ?? ''} ${reason}`);

describe('validate', () => {
  test('accepts the documented DataStore', () => {
    expect(lines(newStore())).toEqual([]);
  });

  test.each([
    ['https://etcd-0:2379', /scheme/],
    ['etcd-0', /not host:port/],
    ['etcd-0:0', /1-65535/],
    ['etcd 0:2379', /not host:port/],
    ['', /not host:port/],
  ])('refuses the endpoint %j', (endpoint, expected) => {
    expect(lines(newStore({ endpoints: [endpoint] }))).toEqual([expect.stringMatching(expected)]);
  });

  test('refuses an endpoint that is listed twice', () => {
    expect(lines(newStore({ endpoints: ['a:1', 'b:1', 'a:1'] }))).toEqual(['spec.endpoints[2] a:1 is listed twice']);
  });

  test('reports everything at once that etcd needs', () => {
    const tlsConfig = { certificateAuthority: { certificate: reference('ca.crt') } };
    expect(lines(newStore({ tlsConfig }))).toEqual([
      expect.stringMatching(/^spec\.tlsConfig\.certificateAuthority\.privateKey .*CA private key is required/),
      expect.stringMatching(/^spec\.tlsConfig\.clientCertificate .*client certificate is required/),
    ]);
  });

  test.each<[string, ContentRef, RegExp]>([
    ['nothing', {}, /^spec\.tlsConfig\.clientCertificate\.certificate .*Secret reference is mandatory/],
    ['no name', { secretReference: { namespace: 'x', keyPath: 'y' } }, /secretReference\.name .*name is mandatory/],
    [
      'no namespace',
      { secretReference: { name: 'x', keyPath: 'y' } },
      /secretReference\.namespace .*namespace is mandatory/,
    ],
    ['no such key', reference('tls.pem'), /keyPath tls\.pem is not a key of Secret steward-system\/etcd-certs$/],
  ])('refuses content that is %s', (_, content, expected) => {
    expect(lines(withClient(content))).toEqual([expect.stringMatching(expected)]);
  });

  test('ignores a reference beside inline content', () => {
    expect(lines(withClient({ content: 'eA==', ...reference('nowhere', 'gone') }))).toEqual([]);
  });

  test('refuses another driver, and accepts changes of metadata whatever happened to the Secrets', () => {
    const old = newStore();
    expect(lines(newStore({ driver: 'MySQL' }), old)).toEqual([
      expect.stringMatching(/^spec\.driver MySQL .*cannot be changed/),
    ]);
    const labeled = { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } };
    expect(validate({ store: labeled, old, secrets: new Map() })).toEqual([]);
    // Its Secret has lost every key since.
    const emptied = new Map([['steward-system/etcd-certs', new Set<string>()]]);
    expect(validate({ store: labeled, secrets: emptied })).not.toEqual([]);
    expect(validate({ store: labeled, old, secrets: emptied })).toEqual([]);
  });

  test('accepts any object that is being deleted', () => {
    const store = newStore({ endpoints: ['x'] });
    const metadata = { ...store.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    expect(lines({ ...store, metadata })).toEqual([]);
  });

  test.each([
    ['8Gi', true],
    [8, true],
    ['0', false],
    ['-1Gi', false],
  ])('accepts a capacity of %p only if it is more than 0 bytes', (size, isFine) => {
    const found = lines(newStore({ placement: { weight: 1, capacity: { size } } }));
    const error = `spec.placement.capacity.size ${size} is not a number of bytes greater than 0`;
    expect(found).toEqual(isFine ? [] : [error]);
  });

  test('requires a user or certificates of other drivers', () => {
    const { driver, endpoints } = { driver: 'PostgreSQL', endpoints: ['db:5432'] } as const;
    const bare: DataStore = { ...newStore(), spec: { driver, endpoints } };
    expect(lines(bare)).toEqual([expect.stringMatching(/^spec\.basicAuth .*needs one of them/)]);
  });

  test('accepts the operator of NATS accounts as credentials, and checks that its Secrets exist', () => {
    const accounts = { replicas: 1, storagePerTenant: '1Gi' };
    const nats = { operatorKey: reference('seed'), systemCredentials: reference('tls.key'), ...accounts };
    const spec: DataStoreSpec = { driver: 'NATS', endpoints: ['nats:4222'], nats };
    expect(lines({ ...newStore(), spec })).toEqual([
      expect.stringMatching(/^spec\.nats\.operatorKey\.secretReference\.keyPath seed is not a key of Secret/),
    ]);
  });
});

describe('warningsAbout', () => {
  test('names each Secret that does not exist yet, once', () => {
    expect(warningsAbout(newStore(), secrets)).toEqual([]);
    expect(warningsAbout(newStore(), new Map())).toEqual([
      expect.stringMatching(/^Secret steward-system\/etcd-certs does not exist/),
    ]);
    expect(lines(withClient(reference('tls.crt', 'later')))).toEqual([]);
  });
});

describe('validateDeletion', () => {
  test('names the tenants with data in the datastore, at most ten', () => {
    const nobody = { usedBy: [], retained: [], unknown: [] };
    expect(validateDeletion('default', nobody)).toEqual([]);
    const users = Array.from({ length: 12 }, (_, index) => `ns/t${index}`);
    const [error] = validateDeletion('default', { ...nobody, usedBy: users });
    expect(error).toMatchObject({
      field: 'metadata.name',
      value: 'default',
      remedy: expect.stringMatching(/^delete these/) as unknown,
    });
    expect(error?.reason).toMatch(/ns\/t9 and 2 more$/);
  });

  test('names the RetainedControlPlanes whose data is in the datastore, which no migration takes away', () => {
    const found = validateDeletion('default', { usedBy: ['ns/a'], retained: ['ns.b'], unknown: [] });
    expect(found.map(({ reason, remedy }) => `${reason}: ${remedy}`)).toEqual([
      expect.stringContaining('it holds the data of ns/a: delete these TenantControlPlanes'),
      'cannot be deleted: it holds retained data, that of RetainedControlPlane ns.b: delete it, which removes the data, or let a TenantControlPlane adopt the data, and migrate that one to another DataStore',
    ]);
  });
});

/** Fields with a key in a Secret, found by that key, independently of the product's code. */
function contentPathsOf(schema: OpenApi, path: readonly string[]): readonly string[] {
  if (schema.properties?.keyPath !== undefined) return [path.slice(0, -1).join('.')];
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => contentPathsOf(field, [...path, name]));
}

describe('validateSecretDeletion', () => {
  test('names the DataStores that read the Secret', () => {
    const stores = [newStore({}, 'b'), newStore({}, 'a')];
    const [error] = validateSecretDeletion({ namespace: 'steward-system', name: 'etcd-certs' }, stores);
    expect(error?.reason).toBe('holds the credentials of DataStore a, b');
    expect(validateSecretDeletion({ namespace: 'other', name: 'etcd-certs' }, stores)).toEqual([]);
    expect(validateSecretDeletion({ namespace: 'steward-system', name: 'etcd-certs' }, [])).toEqual([]);
  });

  test('protects the Secrets of every field of the schema that contains bytes', () => {
    const name = 'credentials';
    const secretReference = { name, namespace: 'steward-system', keyPath: 'x' };
    const paths = contentPathsOf(dataStore.spec.openapi, []);
    expect(paths).toEqual(expect.arrayContaining(['basicAuth.password', 'tlsConfig.clientCertificate.privateKey']));
    for (const path of paths) {
      const spec = path
        .split('.')
        .reduceRight<object>((below, step) => ({ [step]: below }), { secretReference }) as DataStoreSpec;
      const [error] = validateSecretDeletion({ namespace: 'steward-system', name }, [{ ...newStore(), spec }]);
      expect({ path, reason: error?.reason }).toEqual({
        path,
        reason: 'holds the credentials of DataStore default',
      });
    }
  });
});
