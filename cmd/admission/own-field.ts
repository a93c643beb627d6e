import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';

/** Fields of a TenantControlPlane, and those of a StewardControlPlane that they come from, below its spec. */
const ownFields = [
  ['spec.controlPlane.deployment.autoscaling.', 'deployment.autoscaling.'],
  ['spec.controlPlane.deployment.resources.apiServer.', 'apiServer.resources.'],
] as const;

/**
 * A validation error of a TenantControlPlane, for the author of the StewardControlPlane that it is made of: with the field of the
 * latter where it is known. `spec` is the path to the spec of the StewardControlPlane, which a template has deeper inside.
 */
export function ownField({ field, remedy, ...rest }: InvalidInput, spec: string): InvalidInput {
  const found = ownFields.find(([tenant]) => field.startsWith(tenant));
  if (found === undefined) {
    return { ...rest, field: `${field.replace(/^spec\./, `${spec}.`)} of the TenantControlPlane`, remedy };
  }
  const own = (text: string): string =>
    ownFields.reduce((changed, [from, to]) => changed.replaceAll(from, `${spec}.${to}`), text);
  return { ...rest, field: own(field), remedy: own(remedy) };
}
