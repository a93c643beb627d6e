import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { externalReferenceOf, isMade } from './reference.ts';

const field = 'spec.deployment.externalClusterReference';
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What is wrong with the reference to another cluster: where a control plane runs cannot change, how it is reached can. */
export function validateHosting(
  scp: StewardControlPlane,
  old: StewardControlPlane | undefined,
): readonly InvalidInput[] {
  const reference = externalReferenceOf(scp);
  const namespace = `${field}.deploymentNamespace`;
  const shape: readonly InvalidInput[] =
    reference === undefined || label.test(reference.namespace)
      ? []
      : [
          {
            field: namespace,
            value: reference.namespace,
            reason: 'is not a valid name of a namespace',
            remedy: 'use the name of a namespace',
          },
        ];
  if (old === undefined || !isMade(old)) return shape;
  const before = externalReferenceOf(old);
  if ((before === undefined) !== (reference === undefined)) {
    const reason =
      before === undefined
        ? 'cannot be added: the control plane runs in this cluster'
        : 'cannot be removed: the control plane runs in the hosting cluster';
    return [{ field, reason, remedy: 'create a new StewardControlPlane to run the control plane elsewhere' }];
  }
  if (before === undefined || before.namespace === reference?.namespace) return shape;
  const reason = `cannot be changed: the control plane runs in namespace ${before.namespace}`;
  return [{ field: namespace, value: reference?.namespace, reason, remedy: 'restore the previous value' }];
}
