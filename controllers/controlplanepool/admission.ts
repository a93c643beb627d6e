import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf } from '../../api/meta.ts';
import { asStored } from '../../api/as-stored.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';

/**
 * True if control planes of the pool are to be created from another template than before. What was admitted once does not prevent other
 * changes, such as that of `maxReady`: rules may be newer than the pool, and a DataStore may be gone.
 */
export function changesTemplate(pool: ControlPlanePool, old: ControlPlanePool | undefined): boolean {
  if (pool.metadata.deletionTimestamp !== undefined) return false;
  return old === undefined || !isDeepStrictEqual(pool.spec.template, old.spec.template);
}

/** A control plane of the pool, as far as the template determines it: its name differs, and is valid if that of the pool is. */
export function controlPlaneFrom({ metadata, spec }: ControlPlanePool, name = 'prepared'): TenantControlPlane {
  const { metadata: given, spec: tenant } = spec.template;
  return asStored<TenantControlPlane>({
    apiVersion: apiVersionOf(tenantControlPlane),
    kind: tenantControlPlane.kind,
    metadata: { ...given, namespace: metadata.namespace, name },
    spec: tenant,
  });
}

/** A validation error of such a control plane, with the fields of the pool. */
export function ofTemplate({ field, remedy, ...rest }: InvalidInput): InvalidInput {
  const inTemplate = (text: string): string => text.replaceAll(/(?<![\w.])(spec|metadata)(?=\.)/g, 'spec.template.$1');
  return { ...rest, field: inTemplate(field), remedy: inTemplate(remedy) };
}

/** What several control planes of a pool cannot have at once, although one could. */
export function notShared({ field, value }: InvalidInput): InvalidInput {
  const reason = 'can belong to one control plane only';
  return { field, ...(value !== undefined && { value }), reason, remedy: 'remove it from the template' };
}

/** What the author of an admitted pool should know. */
export function warningsAbout({ metadata, spec }: ControlPlanePool): readonly string[] {
  const { minReady, maxReady = minReady } = spec;
  if (metadata.deletionTimestamp !== undefined || maxReady > 0) return [];
  return ['spec.maxReady is 0: no control plane is prepared, and claims wait until it is raised'];
}
