import type { Session, Tenancy } from '../../../stores/driver.ts';

/** How many writes a session counts to a tenancy that exists. */
export async function countedWrites(session: Session, tenancy: Tenancy): Promise<number> {
  const writes = await session.countWrites(tenancy, new AbortController().signal);
  if (writes === undefined) throw new Error(`${tenancy.schema} is not there to be counted`);
  return writes;
}
