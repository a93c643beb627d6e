import { admissionControllers, defaultAdmissionControllers } from '../../embedded/admission-controllers.ts';
import { encryptionAlgorithm } from '../../embedded/encryption-algorithm.ts';
import { kubernetesFields } from '../../embedded/kubernetes-fields.ts';
import { described, obj, opt, str } from '../../schema.ts';

/** Kubernetes version and settings of a control plane and its nodes. */
export const kubernetesSpec = obj({
  version: described(str(), 'Kubernetes version, e.g. `v1.36.3`. The leading `v` is optional.'),
  ...kubernetesFields,
  kubelet: opt(kubernetesFields.kubelet.optional, {}),
  admissionControllers: opt(admissionControllers, defaultAdmissionControllers),
  encryptionAlgorithm: opt(encryptionAlgorithm),
});
