import { kinds } from '../../../api/core/kinds.ts';
import { readKubeconfig } from '../../../api/kubeconfig.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { deadline } from '../../../runtime/deadline.ts';
import type { World } from '../frame/world.ts';

/** An API server that cannot be reached from here is given up after so long, in milliseconds. */
const patienceMs = 5_000;

/**
 * The UID of the namespace `kube-system` of a tenant, which identifies its data. Undefined if its API server does not
 * answer this machine: the endpoint may be meant for workers only.
 */
export async function askInside(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { world, cluster, signal }: { readonly world: World; readonly cluster: Cluster; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const key = { namespace, name: tenantObjects(name).adminKubeconfig };
  const secret = await cluster.get(kinds.Secret, key, { signal });
  const value = secret?.data?.[dataKeys.adminKubeconfig.admin];
  if (value === undefined) return undefined;
  const limit = deadline(world.clock, patienceMs, [signal]);
  try {
    const { access } = readKubeconfig(Buffer.from(value, 'base64').toString('utf8'));
    const tenant = world.openCluster(access, 'tenant');
    try {
      const found = await tenant.get(kinds.Namespace, { name: 'kube-system' }, { signal: limit.signal });
      return found?.metadata.uid;
    } finally {
      await tenant.close();
    }
  } catch {
    signal.throwIfAborted();
    return undefined;
  } finally {
    limit.release();
  }
}
