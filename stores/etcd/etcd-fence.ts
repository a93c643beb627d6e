import type { EtcdClient, Permission } from './etcd-client.ts';
import { tenancyRange } from './etcd-range.ts';

type Calls = Pick<EtcdClient, 'get' | 'createAll' | 'deleteKeys' | 'grantPermission'>;

/** Beside the records of ownership, out of every tenant's reach. */
function keyOf(schema: string): string {
  return `steward.butlerlabs.dev/fences/${schema}`;
}

/**
 * What a tenancy's role permits. Read what the role has before asking this: a fence is recorded before it is put up, so that
 * whoever sees a role without writes also sees why.
 */
export async function rightfulPermission(client: Pick<Calls, 'get'>, schema: string): Promise<Permission> {
  const fenced = (await client.get(keyOf(schema))) !== undefined;
  return { type: fenced ? 'Read' : 'Readwrite', range: tenancyRange(schema) };
}

/**
 * Leaves a tenancy's role the right to read. etcd asks for the permission when a write is applied, in the order of its log: what
 * was acknowledged came before, and what comes after is refused on every member, whatever connection it came over.
 */
export async function putUpFence(client: Calls, schema: string): Promise<void> {
  await client.createAll([[keyOf(schema), '']]);
  await client.grantPermission(schema, { type: 'Read', range: tenancyRange(schema) });
}

/** Gives the writes back. */
export async function takeDownFence(client: Calls, schema: string): Promise<void> {
  await client.grantPermission(schema, { type: 'Readwrite', range: tenancyRange(schema) });
  await client.deleteKeys([keyOf(schema)]);
}

/** Forgets the fence of a tenancy whose role is gone. */
export async function forgetFence(client: Calls, schema: string): Promise<void> {
  await client.deleteKeys([keyOf(schema)]);
}
