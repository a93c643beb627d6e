import { X509Certificate } from 'node:crypto';
import { annotations } from '../../../api/names.ts';
import { isFields, omit } from '../../fake/stored-object.ts';
import type { Fields, StoredObject } from '../../fake/stored-object.ts';
import type { FakeCluster } from '../../fake/fake-cluster.ts';
import type { MemoryStore } from '../../fake/memory-driver.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import { plainText, withoutUids } from './plain-text.ts';

/** Everything that there is after a run, by name, without what differs from run to run. */
export type WorldShape = ReadonlyMap<string, unknown>;

/** Kinds that are no result of an operation. */
const passing: ReadonlySet<string> = new Set(['Event', 'Lease']);

/** Fields that say how an operation went, and what was allocated, not what it came to. */
const measured: ReadonlySet<string> = new Set([
  ...['podIP', 'revision', 'pauseMs', 'rolloutMs', 'bytes', 'rate', 'attempt'],
  annotations.retryMigration,
]);

type Authorities = ReadonlyMap<string, X509Certificate>;

/** What is in both clusters, the datastores and the repository of the backups. */
export function worldShape(world: ChaosWorld): WorldShape {
  const authorities = authoritiesIn(world.cluster);
  const allocated = withoutAllocated(world.cluster.everything());
  return new Map<string, unknown>([
    ...objectsIn('management', world.cluster, { authorities, allocated }),
    ...objectsIn('tenant', world.tenant, { authorities, allocated }),
    ...tenanciesIn('default', world.store, allocated),
    ...tenanciesIn('other', world.target, allocated),
    ['backups', [...world.repository.files.keys()].filter((name) => name.includes('/backups/')).length],
  ]);
}

/** The CAs in Secrets, by the name of the Secret. */
function authoritiesIn(cluster: FakeCluster): Authorities {
  const secrets = cluster.everything().filter(({ kind }) => kind === 'Secret');
  return new Map(
    secrets.flatMap(({ metadata, data }) => {
      const text = isFields(data) ? data['ca.crt'] : undefined;
      const keyed = isFields(data) && 'ca.key' in data;
      const front = isFields(data) ? data['front-proxy-ca.crt'] : undefined;
      const found = keyed ? text : front;
      if (typeof found !== 'string') return [];
      return [[metadata.name ?? '', new X509Certificate(Buffer.from(found, 'base64'))] as const];
    }),
  );
}

function objectsIn(
  where: string,
  cluster: FakeCluster,
  common: Omit<Known, 'uids'>,
): readonly (readonly [string, unknown])[] {
  const all = cluster.everything().filter(({ kind }) => !passing.has(kind));
  const uids = new Map(all.map(({ kind, metadata }) => [metadata.uid ?? '', `${kind} ${metadata.name ?? ''}`]));
  const known = { ...common, uids };
  const shapes = all.map((object) => [`${where} ${nameOf(object)}`, shapeOf(object, known)] as const);
  // Pods have generated names: those that are alike are told apart by their number.
  const counted = Map.groupBy(shapes, ([name, shape]) =>
    name.includes(' Pod ') ? `${name} ${JSON.stringify(shape)}` : name,
  );
  return [...counted].flatMap(([name, group]) =>
    group.map(([, shape], at) => [group.length > 1 ? `${name} (${at + 1})` : name, shape] as const),
  );
}

function nameOf({ kind, metadata: { namespace, name = '' } }: StoredObject): string {
  const where = namespace === undefined || namespace === '' ? '' : `${namespace}/`;
  return withoutUids(`${kind} ${where}${kind === 'Pod' ? name.replace(/\d+$/, '') : name}`);
}

type Renaming = (text: string) => string;

interface Known {
  /** Puts names of objects in place of what was allocated to them. */
  readonly allocated: Renaming;
  readonly uids: ReadonlyMap<string, string>;
  readonly authorities: Authorities;
}

/** Names Services for their addresses, and TenantControlPlanes for the tenancies that they use: an object that is created again gets others. */
function withoutAllocated(objects: readonly StoredObject[]): Renaming {
  const known = objects.flatMap(({ kind, metadata: { name = '' }, spec, status }) => {
    const address = kind === 'Service' && isFields(spec) ? spec.clusterIP : undefined;
    const storage = kind === 'TenantControlPlane' && isFields(status) ? status.storage : undefined;
    const setup = isFields(storage) ? storage.setup : undefined;
    return [
      [address, `<address of ${name}>`] as const,
      [isFields(setup) ? setup.schema : undefined, `<tenancy of ${name}>`] as const,
    ];
  });
  return (text) =>
    known.reduce(
      (next, [value, named]) => (typeof value === 'string' && value !== '' ? next.replaceAll(value, named) : next),
      text,
    );
}

function shapeOf(object: StoredObject, known: Known): unknown {
  const { kind, metadata, ...rest } = object;
  const { ownerReferences = [], generation } = metadata;
  const owners = ownerReferences.map(({ uid, name }) => `${name}: ${known.uids.get(uid) ?? 'an owner that is gone'}`);
  const own = omit(
    metadata,
    ...([
      'uid',
      'resourceVersion',
      'creationTimestamp',
      'managedFields',
      'generation',
      'ownerReferences',
      'name',
    ] as const),
  );
  const decoded =
    kind === 'Secret' && isFields(rest.data) ? { ...rest, data: mapValues(rest.data, decodedText) } : rest;
  return plain({ ...decoded, metadata: { ...own, owners } }, generation, known);
}

const decodedText = (value: unknown): unknown =>
  typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value;

/** Generations are counts of changes: only whether the newest one was observed is a result. */
function plain(value: unknown, generation: number | undefined, known: Known): unknown {
  if (typeof value === 'string') return known.allocated(plainText(value, known.authorities));
  if (Array.isArray(value)) return (value as readonly unknown[]).map((one) => plain(one, generation, known));
  if (!isFields(value)) return value;
  const counted = typeof value.generation === 'number' ? value.generation : generation;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      if (measured.has(name) || (name === 'generation' && typeof one === 'number')) return [];
      if (name !== 'observedGeneration') return [[name, plain(one, counted, known)]];
      return [[name, one === counted ? 'current' : 'old']];
    }),
  );
}

const mapValues = (fields: Fields, map: (value: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value)]));

function tenanciesIn(name: string, store: MemoryStore, allocated: Renaming): readonly (readonly [string, unknown])[] {
  const of = (what: string): string => allocated(`datastore ${name} ${what}`);
  return [
    ...[...store.tenancies.keys()].map((schema) => [of(`tenancy ${schema}`), 'recorded'] as const),
    ...store.access.lines.map((line) => [of(line), 'granted'] as const),
    // Who has no access cannot write, whether the grants were taken back as well or given again late.
    ...store.fenced
      .filter((schema) => !store.revoked.has(schema))
      .map((schema) => [of(`tenancy ${schema}, writes`), 'denied'] as const),
    ...[...store.revoked].map((schema) => [of(`tenancy ${schema}, access`), 'revoked'] as const),
    ...[...store.data].flatMap(([schema, data]) =>
      data.content().size > 0 ? [[of(`data of ${schema}`), 'present'] as const] : [],
    ),
  ];
}
