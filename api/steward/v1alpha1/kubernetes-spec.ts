import { admissionControllers, defaultAdmissionControllers } from '../../embedded/admission-controllers.ts';
import { encryptionAlgorithm } from '../../embedded/encryption-algorithm.ts';
import { kubelet } from '../../embedded/kubelet.ts';
import { described, obj, opt, str } from '../../schema.ts';

/** What runs in a control plane, and what its nodes are told. */
export const kubernetesSpec = obj({
  version: described(str(), 'Kubernetes version, e.g. `v1.36.3`; the leading `v` may be left out.'),
  kubelet: opt(described(kubelet, 'What joining kubelets are told.'), {}),
  admissionControllers: opt(admissionControllers, defaultAdmissionControllers),
  encryptionAlgorithm: opt(encryptionAlgorithm),
});
