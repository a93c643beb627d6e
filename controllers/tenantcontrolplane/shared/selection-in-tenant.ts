import type { KindRef } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import type { Selection } from '../../../runtime/client/cluster.ts';
import { endpointKinds } from './tenant-kinds.ts';

/**
 * Which objects of a kind may be ours inside a tenant: those with our label, and the endpoints of the Service `kubernetes`, which
 * have none.
 */
export function selectionInTenant(kind: KindRef): Selection {
  return endpointKinds.includes(kind)
    ? { namespace: 'default', fieldSelector: 'metadata.name=kubernetes' }
    : { labelSelector: labels.component };
}
