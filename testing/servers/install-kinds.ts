import { setTimeout as pause } from 'node:timers/promises';
import { kinds } from '../../api/core/kinds.ts';
import { crd, crdName } from '../../api/generate/crd.ts';
import type { Kind } from '../../api/schema.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { patient } from '../patient.ts';

/** Milliseconds that an API server has to serve a kind. */
const limitMs = 30_000;

interface DefinitionStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
}

/** The conditions that the API server gave a definition, by type. */
export async function definitionConditions(
  cluster: Cluster,
  kind: Kind,
): Promise<ReadonlyMap<string, { readonly status: string; readonly message: string }>> {
  const found = await cluster.get(kinds.CustomResourceDefinition, { name: crdName(kind) });
  const { conditions = [] } = (found?.status ?? {}) as DefinitionStatus;
  return new Map(conditions.map(({ type, status, message = '' }) => [type, { status, message }]));
}

/** True when objects of the kind can be listed. */
async function isServed(cluster: Cluster, kind: Kind): Promise<boolean> {
  try {
    await cluster.list(kind);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return false;
    throw error;
  }
}

/**
 * Installs the definitions of the kinds, again where they are already, and returns once all are served. Throws when the API server
 * refuses one, or does not serve it within 30 seconds.
 */
export async function installKinds(cluster: Cluster, wanted: readonly Kind[]): Promise<void> {
  for (const kind of wanted) {
    await cluster.apply(kinds.CustomResourceDefinition, crd(kind), { fieldManager: 'steward-tests' });
  }
  const deadline = performance.now() + patient(limitMs);
  for (const kind of wanted) {
    while (!(await isServed(cluster, kind))) {
      if (performance.now() > deadline) {
        const conditions = JSON.stringify([...(await definitionConditions(cluster, kind))]);
        throw new Error(`${crdName(kind)} is not served after ${limitMs / 1000} s; its conditions: ${conditions}`);
      }
      // The API server does not report when its routes are up; the condition Established comes shortly before.
      await pause(50);
    }
  }
}
