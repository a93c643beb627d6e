import { described, opt } from '../schema.ts';
import { admissionControllerList } from './admission-controllers.ts';
import { kubelet } from './kubelet.ts';

/** Settings of Kubernetes: `spec.kubernetes` and `spec`. */
export const kubernetesFields = {
  kubelet: opt(described(kubelet, 'Configuration of joining kubelets.')),
  admissionControllers: opt(admissionControllerList),
} as const;
