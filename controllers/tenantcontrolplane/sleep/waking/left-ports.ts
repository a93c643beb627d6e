import type { ConfigMap } from '../../../../api/core/kinds.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Key } from '../../../../api/meta.ts';
import { tenantObjects } from '../../../../api/names.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { activatorSlice } from './activator-slices.ts';

/** So long after they were looked for, they are looked for again, in milliseconds. */
const againMs = 10 * 60_000;

/** So many are examined at once; the others have their turn the next time. */
const mostAtOnce = 20;

/**
 * Ports of tenants that are gone without having given them back, because somebody removed their finalizers. A tenant that exists has its
 * port as long as it does not give it back itself, even if it does not want it anymore: calls may still be led there.
 */
export class LeftPorts {
  readonly #cluster: Cluster;
  readonly #informers: Pick<InformerFactory, 'informer'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #soughtAt: number | undefined;
  #next = 0;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly informers: Pick<InformerFactory, 'informer'>;
    readonly clock: Pick<Clock, 'monotonic'>;
  }) {
    this.#cluster = parts.cluster;
    this.#informers = parts.informers;
    this.#clock = parts.clock;
  }

  /** True after the start of this process, and then again after minutes. */
  isDue(): boolean {
    return this.#soughtAt === undefined || this.#clock.monotonic() - this.#soughtAt >= againMs;
  }

  /** Finds them in a table that was read a moment ago, so that whoever came since has changed it. */
  async find(data: NonNullable<ConfigMap['data']>, signal: AbortSignal): Promise<readonly string[]> {
    this.#soughtAt = this.#clock.monotonic();
    const tenants = this.#informers.informer({ kind: tenantControlPlane });
    const unknown = Object.entries(data).filter(([, tenant]) => tenants.get(keyOf(tenant)) === undefined);
    const from = this.#next < unknown.length ? this.#next : 0;
    const examined = unknown.slice(from, from + mostAtOnce);
    this.#next = from + examined.length;
    const found = await Promise.all(
      examined.map(async ([port, tenant]) => ((await this.#isGone(tenant, signal)) ? [port] : [])),
    );
    return found.flat();
  }

  /** True if neither the tenant is there, nor a slice that leads calls of it to the activator. */
  async #isGone(tenant: string, signal: AbortSignal): Promise<boolean> {
    const key = keyOf(tenant);
    const slices = ['IPv4', 'IPv6'].map((family) => ({
      namespace: key.namespace,
      name: activatorSlice(tenantObjects(key.name).service, family),
    }));
    try {
      if ((await this.#cluster.get(tenantControlPlane, key, { signal })) !== undefined) return false;
      const left = await Promise.all(slices.map((slice) => this.#cluster.get(kinds.EndpointSlice, slice, { signal })));
      return left.every((slice) => slice === undefined);
    } catch (error) {
      // Of a namespace that this manager may not read, another one knows.
      if (error instanceof ApiError && error.code === 403) return false;
      throw error;
    }
  }
}

function keyOf(tenant: string): Required<Key> {
  const [namespace = '', name = ''] = tenant.split('/');
  return { namespace, name };
}
