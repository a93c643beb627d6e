import type { Manifest } from '../../api/meta.ts';
import { ownerReferenceOf } from '../../api/meta.ts';
import { annotations, claimKubeconfig, dataKeys, labels, project } from '../../api/names.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { checksum } from '../../kubeadm/pki/checksum.ts';

/** The Secret with the kubeconfig of a claimant; it goes with the claim. */
export function kubeconfigSecret(claim: ControlPlaneClaim, kubeconfig: string): Manifest {
  const { name, namespace, uid } = claim.metadata;
  const key = dataKeys.generatedKubeconfig;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: claimKubeconfig(name),
      namespace,
      labels: {
        [labels.project]: project,
        [labels.claimedBy]: uid,
        [labels.certificateLifecycle]: 'kubeconfig',
      },
      annotations: { [annotations.checksum]: checksum({ [key]: kubeconfig }) },
      ownerReferences: [ownerReferenceOf(claim)],
    },
    type: 'Opaque',
    data: { [key]: Buffer.from(kubeconfig).toString('base64') },
  };
}
