import { core } from '../core/core-schema.ts';
import { probeTimings } from '../embedded/probes.ts';
import { additionalMetadata } from '../embedded/object-metadata.ts';
import { described, list, map, obj, opt, str } from '../schema.ts';

const extraArgs = opt(described(list(str()), 'Further flags, dashes included; they win over those of ours.'));

/** One component of a control plane. */
export const componentSpec = obj({
  extraVolumeMounts: opt(list(core('VolumeMount'))),
  extraArgs,
  resources: opt(core('ResourceRequirements')),
  containerImageName: opt(described(str({ minLength: 1 }), 'Name of the image without registry and tag.')),
  probes: opt(probeTimings),
});

/** The translator between etcd's protocol and a database. */
export const kineSpec = obj({ extraArgs, resources: opt(core('ResourceRequirements')) });

const externalClusterReference = obj({
  kubeconfigSecretName: str({ minLength: 1 }),
  kubeconfigSecretKey: str({ minLength: 1 }),
  kubeconfigSecretNamespace: opt(described(str(), 'Namespace of the Secret; that of this object when empty.')),
  deploymentNamespace: described(str(), 'Namespace in the other cluster where the control plane runs.'),
});

/** The pods of a StewardControlPlane. */
export const deploymentSpec = obj({
  nodeSelector: opt(map(str())),
  runtimeClassName: opt(str()),
  priorityClassName: opt(described(str(), 'PriorityClass of the pods, which must exist; none when empty.')),
  additionalMetadata: opt(described(additionalMetadata, 'Labels and annotations of the Deployment.')),
  podAdditionalMetadata: opt(described(additionalMetadata, 'Labels and annotations of its pods.')),
  serviceAccountName: opt(str()),
  strategy: opt(core('DeploymentStrategy')),
  affinity: opt(core('Affinity')),
  tolerations: opt(list(core('Toleration'))),
  topologySpreadConstraints: opt(list(core('TopologySpreadConstraint'))),
  extraInitContainers: opt(list(core('Container'))),
  extraContainers: opt(list(core('Container'))),
  extraVolumes: opt(list(core('Volume'))),
  externalClusterReference: opt(
    described(externalClusterReference, 'Another cluster where the control plane runs, by its kubeconfig.'),
  ),
  probes: opt(probeTimings),
});
