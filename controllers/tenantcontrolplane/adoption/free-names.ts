import { kinds } from '../../../api/core/kinds.ts';
import type { Key, KindRef } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import { isUpTo } from '../../../runtime/cache/object-id.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import type { Scope } from '../scope.ts';

/**
 * In the first reconcile of a TenantControlPlane, of which no process can have applied anything: says whether a name is free; undefined
 * in any other. It is known of Service and Deployment, which this reconcile has read, and of Secrets, if the watch of all of
 * them has seen what there was before the TenantControlPlane: a previous one of the same name may have left some, and other objects share
 * its names and our field manager. Versions are compared across kinds, which one etcd puts in order.
 */
export function freeNames(
  { tcp, observed }: Pick<Scope, 'tcp' | 'observed'>,
  firstVersion: string,
  allSecrets: Pick<Informer, 'get' | 'health'>,
): ((kind: KindRef, key: Key) => boolean) | undefined {
  // One with a status is not new: it was imported, or lost its finalizers.
  if (Object.keys(tcp.status ?? {}).length > 0) return undefined;
  const { namespace, name } = tcp.metadata;
  const names = tenantObjects(name);
  const isSecretFree = (key: Key): boolean =>
    isUpTo(allSecrets.health().version, firstVersion) && allSecrets.get(key) === undefined;
  return (kind, key) => {
    if (key.namespace !== namespace) return false;
    if (kind === kinds.Secret) return isSecretFree(key);
    if (kind === kinds.Service) return key.name === names.service && observed.service === undefined;
    return kind === kinds.Deployment && key.name === names.deployment && observed.deployment === undefined;
  };
}
