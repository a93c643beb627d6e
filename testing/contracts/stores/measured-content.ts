import type { Session, Tenancy, TenancyContent } from '../../../stores/driver.ts';

/** What a session measures of a tenancy that exists. */
export async function measuredContent(session: Session, tenancy: Tenancy): Promise<TenancyContent> {
  const size = await session.measure(tenancy, new AbortController().signal);
  if (size === undefined) throw new Error(`${tenancy.schema} is not there to be measured`);
  return size.content;
}
