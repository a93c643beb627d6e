import type { Session, Tenancy } from '../../../stores/driver.ts';
import type { TenancyData } from '../../../stores/tenancy-data.ts';

/** Opens the data of a tenancy once more, as another process does. */
export async function otherData(session: Session, tenancy: Tenancy): Promise<TenancyData> {
  const data = await session.data?.(tenancy);
  if (data === undefined) throw new Error('the driver cannot copy');
  return data;
}
