import type { KindRef } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import type { Selection } from '../../runtime/cluster.ts';
import { endpointKinds } from './tenant-kinds.ts';

/** What of a kind may be ours inside a tenant: what carries our label, and where the Service `kubernetes` leads, which carries none. */
export function selectionInTenant(kind: KindRef): Selection {
  return endpointKinds.includes(kind)
    ? { namespace: 'default', fieldSelector: 'metadata.name=kubernetes' }
    : { labelSelector: labels.component };
}
