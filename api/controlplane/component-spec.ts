import { core } from '../core/core-schema.ts';
import { deploymentFields } from '../embedded/deployment-fields.ts';
import { probeTimings } from '../embedded/probes.ts';
import { described, list, obj, opt, str } from '../schema.ts';

const extraArgs = opt(
  described(list(str()), 'Additional flags, including the dashes. They take precedence over flags that Steward sets.'),
);

const resources = opt(described(core('ResourceRequirements'), 'Compute resources of the container.'));

/** Settings of one component of a control plane. */
export const componentSpec = obj({
  extraVolumeMounts: opt(described(list(core('VolumeMount')), 'Additional volume mounts of the container.')),
  extraArgs,
  resources,
  containerImageName: opt(described(str({ minLength: 1 }), 'Name of the image, without registry and tag.')),
  probes: opt(probeTimings),
});

/** Settings of kine, which translates between the etcd protocol and a database. */
export const kineSpec = obj({ extraArgs, resources });

const externalClusterReference = obj({
  kubeconfigSecretName: described(
    str({ minLength: 1 }),
    'Name of the Secret with the kubeconfig of the hosting cluster.',
  ),
  kubeconfigSecretKey: described(str({ minLength: 1 }), 'Key of the kubeconfig in the data of the Secret.'),
  kubeconfigSecretNamespace: opt(
    described(str(), 'Namespace of the Secret. Defaults to the namespace of this object.'),
  ),
  deploymentNamespace: described(str(), 'Namespace of the hosting cluster in which the control plane runs.'),
});

/** Pods of a StewardControlPlane. */
export const deploymentSpec = obj({
  ...deploymentFields,
  extraInitContainers: opt(described(list(core('Container')), 'Additional init containers of the pods.')),
  extraContainers: opt(described(list(core('Container')), 'Additional containers of the pods.')),
  extraVolumes: opt(described(list(core('Volume')), 'Additional volumes of the pods.')),
  externalClusterReference: opt(
    described(
      externalClusterReference,
      'Runs the control plane in the hosting cluster to which the kubeconfig in a Secret points.',
    ),
  ),
  probes: opt(probeTimings),
});
