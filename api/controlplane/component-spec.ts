import { core } from '../core/core-schema.ts';
import { deploymentFields } from '../embedded/deployment-fields.ts';
import { probeTimings } from '../embedded/probes.ts';
import { described, list, obj, opt, str } from '../schema.ts';

const extraArgs = opt(
  described(list(str()), 'Additional flags, including the dashes. They take precedence over flags that Steward sets.'),
);

/** Settings of one component of a control plane. */
export const componentSpec = obj({
  extraVolumeMounts: opt(list(core('VolumeMount'))),
  extraArgs,
  resources: opt(core('ResourceRequirements')),
  containerImageName: opt(described(str({ minLength: 1 }), 'Name of the image, without registry and tag.')),
  probes: opt(probeTimings),
});

/** Settings of kine, which translates between the etcd protocol and a database. */
export const kineSpec = obj({ extraArgs, resources: opt(core('ResourceRequirements')) });

const externalClusterReference = obj({
  kubeconfigSecretName: str({ minLength: 1 }),
  kubeconfigSecretKey: str({ minLength: 1 }),
  kubeconfigSecretNamespace: opt(
    described(str(), 'Namespace of the Secret. Defaults to the namespace of this object.'),
  ),
  deploymentNamespace: described(str(), 'Namespace of the hosting cluster in which the control plane runs.'),
});

/** Pods of a StewardControlPlane. */
export const deploymentSpec = obj({
  ...deploymentFields,
  extraInitContainers: opt(list(core('Container'))),
  extraContainers: opt(list(core('Container'))),
  extraVolumes: opt(list(core('Volume'))),
  externalClusterReference: opt(
    described(
      externalClusterReference,
      'Runs the control plane in another cluster, the hosting cluster, to which the kubeconfig in a Secret points.',
    ),
  ),
  probes: opt(probeTimings),
});
