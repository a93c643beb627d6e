import type { EtcdClient, Permission } from '../client.ts';
import { compactionPermission } from '../compaction.ts';
import { isOutOfSpace } from '../errors.ts';
import { tenancyRange, uncopiedRanges } from '../range.ts';
import { writerKey } from './writer.ts';

type Calls = Pick<EtcdClient, 'get' | 'createAll' | 'deleteKeys' | 'grantPermission' | 'revokePermission' | 'role'>;

/** Beside the records of ownership, out of every tenant's reach. */
function keyOf(schema: string): string {
  return `steward.butlerlabs.dev/fences/${schema}`;
}

/** Says that what is not copied may be written behind the fence. */
function gateOf(schema: string): string {
  return `${keyOf(schema)}/uncopied`;
}

/**
 * The same record as a permission of the tenancy's role: an etcd whose quota is used up takes no keys, but it takes permissions. A tenant
 * must be able to leave such an etcd.
 */
function markOf(schema: string): Permission {
  return { type: 'Read', range: { start: Buffer.from(keyOf(schema)), end: Buffer.from(`${keyOf(schema)}\0`) } };
}

/**
 * The permissions that a tenancy's role should have. `present` are the role's, and must be read before calling this: a fence is
 * recorded before the role loses its write permission, so the record exists whenever the permission is missing.
 */
export async function rightfulPermissions(
  client: Pick<Calls, 'get'>,
  schema: string,
  present: readonly Permission[],
): Promise<readonly Permission[]> {
  const all = tenancyRange(schema);
  const mark = markOf(schema);
  const isMarked = present.some(({ range }) => range.start.equals(mark.range.start));
  if (!isMarked && (await client.get(keyOf(schema))) === undefined) {
    return [{ type: 'Readwrite', range: all }, compactionPermission];
  }
  const isOpen = (await client.get(gateOf(schema))) !== undefined;
  const gates = isOpen ? uncopiedRanges(schema) : [];
  return [
    { type: 'Read', range: all },
    ...gates.map((range) => ({ type: 'Readwrite', range }) as const),
    ...(isMarked ? [mark] : []),
    compactionPermission,
  ];
}

/**
 * Reduces a tenancy's role to read permission. etcd checks permissions when it applies a write, in the order of its log: acknowledged
 * writes came before, and later ones are refused on every member and over every connection.
 */
export async function putUpFence(client: Calls, schema: string): Promise<void> {
  try {
    await client.createAll([[keyOf(schema), '']]);
  } catch (error) {
    if (!isOutOfSpace(error)) throw error;
    await client.grantPermission(schema, markOf(schema));
  }
  await client.grantPermission(schema, { type: 'Read', range: tenancyRange(schema) });
}

/** Allows writes of keys that are not copied behind a fence; an etcd whose quota is used up takes none. */
export async function openFence(client: Calls, schema: string): Promise<void> {
  try {
    await client.createAll([[gateOf(schema), '']]);
  } catch (error) {
    if (isOutOfSpace(error)) return;
    throw error;
  }
  for (const range of uncopiedRanges(schema)) await client.grantPermission(schema, { type: 'Readwrite', range });
}

/** Allows all writes again. */
export async function takeDownFence(client: Calls, schema: string): Promise<void> {
  await client.grantPermission(schema, { type: 'Readwrite', range: tenancyRange(schema) });
  const gates = [...uncopiedRanges(schema), markOf(schema).range];
  for (const { range } of (await client.role(schema)) ?? []) {
    if (gates.some(({ start }) => start.equals(range.start))) await client.revokePermission(schema, range);
  }
  await client.deleteKeys([gateOf(schema), keyOf(schema)]);
}

/** Deletes what was recorded of the writes of a tenancy whose role no longer exists. */
export async function forgetFence(client: Calls, schema: string): Promise<void> {
  await client.deleteKeys([writerKey(schema), gateOf(schema), keyOf(schema)]);
}
