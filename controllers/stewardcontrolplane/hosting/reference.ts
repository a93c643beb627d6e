import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Key } from '../../../api/meta.ts';

/** Where the control plane runs when that is another cluster. */
export interface ExternalReference {
  /** The Secret with the kubeconfig, in this cluster. */
  readonly secret: Key & { readonly namespace: string };
  /** Its key. */
  readonly key: string;
  /** The namespace in the other cluster. */
  readonly namespace: string;
}

/** Condition that only control planes in another cluster have. */
export const externalCondition = 'FoundExternalReferenceClient';

/** The reference of a StewardControlPlane to another cluster; undefined when its control plane runs in this one. */
export function externalReferenceOf(scp: StewardControlPlane): ExternalReference | undefined {
  const reference = scp.spec.deployment?.externalClusterReference;
  if (reference === undefined) return undefined;
  const { kubeconfigSecretName: name, kubeconfigSecretNamespace, kubeconfigSecretKey, deploymentNamespace } = reference;
  const own = scp.metadata.namespace;
  const namespace =
    kubeconfigSecretNamespace === undefined || kubeconfigSecretNamespace === '' ? own : kubeconfigSecretNamespace;
  return { secret: { namespace, name }, key: kubeconfigSecretKey, namespace: deploymentNamespace };
}

/** True when a TenantControlPlane in another cluster has been made for it. */
function hasBeenExternal(scp: StewardControlPlane): boolean {
  const was = scp.status?.conditions?.some(({ type }) => type === externalCondition) ?? false;
  return was && isMade(scp);
}

/** True once a TenantControlPlane was made, wherever: where it runs cannot change anymore. */
export function isMade({ spec, status }: StewardControlPlane): boolean {
  const { host } = spec.controlPlaneEndpoint ?? {};
  const isCreated = status?.conditions?.some(
    ({ type, status: is }) => type === 'TenantControlPlaneCreated' && is === 'True',
  );
  return (host !== undefined && host !== '') || isCreated === true;
}

/**
 * True when the control plane runs in another cluster, or did: a reference that was removed, past admission, must not lead to
 * a second, empty control plane here.
 */
export function isExternal(scp: StewardControlPlane): boolean {
  return externalReferenceOf(scp) !== undefined || hasBeenExternal(scp);
}
