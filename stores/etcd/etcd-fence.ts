import type { EtcdClient, Permission } from './etcd-client.ts';
import { tenancyRange, uncopiedRanges } from './etcd-range.ts';

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
 * What a tenancy's role permits. Read what the role has before asking this: a fence is recorded before it is put up, so that
 * whoever sees a role without writes also sees why.
 */
export async function rightfulPermissions(client: Pick<Calls, 'get'>, schema: string): Promise<readonly Permission[]> {
  const all = tenancyRange(schema);
  if ((await client.get(keyOf(schema))) === undefined) return [{ type: 'Readwrite', range: all }];
  const isOpen = (await client.get(gateOf(schema))) !== undefined;
  const gates = isOpen ? uncopiedRanges(schema) : [];
  return [{ type: 'Read', range: all }, ...gates.map((range) => ({ type: 'Readwrite', range }) as const)];
}

/**
 * Leaves a tenancy's role the right to read. etcd asks for the permission when a write is applied, in the order of its log: what
 * was acknowledged came before, and what comes after is refused on every member, whatever connection it came over.
 */
export async function putUpFence(client: Calls, schema: string): Promise<void> {
  await client.createAll([[keyOf(schema), '']]);
  await client.grantPermission(schema, { type: 'Read', range: tenancyRange(schema) });
}

/** Gives the writes back of those keys behind a fence that are not copied. */
export async function openFence(client: Calls, schema: string): Promise<void> {
  await client.createAll([[gateOf(schema), '']]);
  for (const range of uncopiedRanges(schema)) await client.grantPermission(schema, { type: 'Readwrite', range });
}

/** Gives the writes back. */
export async function takeDownFence(client: Calls, schema: string): Promise<void> {
  await client.grantPermission(schema, { type: 'Readwrite', range: tenancyRange(schema) });
  const gates = uncopiedRanges(schema);
  for (const { range } of (await client.role(schema)) ?? []) {
    if (gates.some(({ start }) => start.equals(range.start))) await client.revokePermission(schema, range);
  }
  await client.deleteKeys([gateOf(schema), keyOf(schema)]);
}

/** Forgets the fence of a tenancy whose role is gone. */
export async function forgetFence(client: Calls, schema: string): Promise<void> {
  await client.deleteKeys([gateOf(schema), keyOf(schema)]);
}
