import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { labels } from '../../api/names.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { Dependencies } from './dependencies.ts';
import { preparedManifest } from './prepared-manifest.ts';

const fieldManager = 'steward';

/** The control planes of a pool as the API server has them now. A cache may not have those of a moment ago, and too many would be created. */
export async function listReserve(
  { metadata: { namespace, name } }: ControlPlanePool,
  { cluster }: Dependencies,
  signal: AbortSignal,
): Promise<readonly TenantControlPlane[]> {
  const { items } = await cluster.list(tenantControlPlane, {
    namespace,
    labelSelector: `${labels.pool}=${name}`,
    signal,
  });
  return items;
}

/**
 * Deletes a control plane if it is still as it was read, so that nobody has claimed it since then. False if it is not: its change is
 * reported by the watch.
 */
export async function removePrepared(
  { metadata }: TenantControlPlane,
  { cluster }: Dependencies,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name, uid, resourceVersion } = metadata;
  try {
    return await cluster.delete(tenantControlPlane, { namespace, name }, { uid, resourceVersion, signal });
  } catch (error) {
    if (error instanceof ApiError && error.code === 409) return false;
    throw error;
  }
}

/** New control planes, and the error at which their creation has ended. */
export interface Creation {
  readonly created: readonly TenantControlPlane[];
  readonly error?: unknown;
  /** The text of a refusal, which a change elsewhere may remove, such as that of a quota. */
  readonly refusal?: string;
}

/** Creates control planes one after the other, up to the first error. */
export async function createPrepared(
  pool: ControlPlanePool,
  count: number,
  { cluster, newSuffix }: Dependencies,
  signal: AbortSignal,
): Promise<Creation> {
  const created: TenantControlPlane[] = [];
  try {
    while (created.length < count) {
      const manifest = preparedManifest(pool, newSuffix());
      created.push(await cluster.create(tenantControlPlane, manifest, { fieldManager, signal }));
    }
    return { created };
  } catch (error) {
    // A name that exists already is no refusal: the next one is another one.
    const isRefusal = error instanceof ApiError && [400, 403, 422].includes(error.code);
    return { created, error, ...(isRefusal && { refusal: error.message }) };
  }
}
