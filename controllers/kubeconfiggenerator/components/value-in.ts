import type { KubeconfigGeneratorSpec } from '../../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

type CompoundValue = KubeconfigGeneratorSpec['user'];

/** Why a value of a KubeconfigGenerator cannot be found in a TenantControlPlane. */
export class NoValueError extends Error {
  override readonly name = 'NoValueError';
}

/**
 * The value itself, or the string at its path of dots in the object, e.g. `metadata.name`; keys that hold dots cannot be named.
 * Throws `NoValueError` for a path that leads to nothing or to something that is no string, and for an empty value.
 */
export function valueIn(tcp: TenantControlPlane, value: CompoundValue): string {
  const found = value.stringValue ?? at(tcp, value.fromDefinition ?? '');
  if (found !== '') return found;
  throw new NoValueError(`the value of ${JSON.stringify(value.fromDefinition ?? 'stringValue')} is empty`);
}

function at(tcp: TenantControlPlane, path: string): string {
  let found: unknown = tcp;
  for (const part of path.replace(/^\./, '').split('.')) {
    const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
    found = isObject && Object.hasOwn(found as object, part) ? (found as Record<string, unknown>)[part] : undefined;
  }
  if (typeof found === 'string') return found;
  const reason = found === undefined ? 'is not found' : 'is not a string';
  throw new NoValueError(
    `provided dot notation ${JSON.stringify(path)} ${reason} in the TenantControlPlane: name a string field, e.g. metadata.name`,
  );
}
