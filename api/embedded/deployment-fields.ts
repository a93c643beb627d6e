import { core } from '../core/core-schema.ts';
import { bool, described, list, listMap, map, obj, opt, str } from '../schema.ts';
import { autoscaling } from './autoscaling.ts';
import { additionalMetadata } from './object-metadata.ts';

const containerSecurityContexts = obj({
  apiServer: opt(described(core('SecurityContext'), 'Security context of the container kube-apiserver.')),
  controllerManager: opt(
    described(core('SecurityContext'), 'Security context of the container kube-controller-manager.'),
  ),
  scheduler: opt(described(core('SecurityContext'), 'Security context of the container kube-scheduler.')),
  kine: opt(described(core('SecurityContext'), 'Security context of the container kine.')),
});

const imagePullSecret = obj({
  name: described(str({ minLength: 1 }), 'Name of a Secret, usually of type `kubernetes.io/dockerconfigjson`.'),
});

/** The Deployment of a control plane and its pods: `spec.controlPlane.deployment` and `spec.deployment`. */
export const deploymentFields = {
  nodeSelector: opt(described(map(str()), 'Labels of the nodes that the pods may run on.')),
  runtimeClassName: opt(
    described(str(), 'RuntimeClass of the pods. If empty, the pods use the default runtime of their node.'),
  ),
  hostUsers: opt(
    described(
      bool(),
      'Whether the pods share the user namespace of the node. If false, root in a pod is an unprivileged user on the node.',
    ),
  ),
  priorityClassName: opt(
    described(str(), 'Name of the PriorityClass of the pods. It must exist. If empty, the pods have none.'),
  ),
  serviceAccountName: opt(described(str(), 'ServiceAccount of the pods, in the namespace of the control plane.')),
  imagePullSecrets: opt(
    described(
      listMap(imagePullSecret, ['name']),
      'Secrets with the credentials of registries from which the images of the pods are pulled. They are in the namespace of the pods. If there are none, those of the service account are used.',
    ),
  ),
  strategy: opt(described(core('DeploymentStrategy'), 'How new pods replace old ones.')),
  affinity: opt(described(core('Affinity'), 'Which nodes and which neighbors the pods prefer, need or avoid.')),
  tolerations: opt(described(list(core('Toleration')), 'Tolerations of the pods for taints of nodes.')),
  topologySpreadConstraints: opt(
    described(
      list(core('TopologySpreadConstraint')),
      'Topology spread constraints of the pods. A constraint without a label selector selects the pods of this control plane. If there are none, the pods are spread over nodes as far as possible.',
    ),
  ),
  additionalMetadata: opt(described(additionalMetadata, 'Additional labels and annotations of the Deployment.')),
  automountServiceAccountToken: opt(
    described(bool(), 'Whether the pods get a token of their service account. Defaults to false.'),
  ),
  podSecurityContext: opt(
    described(
      core('PodSecurityContext'),
      'Security context of the pods. Steward adds only a sysctl, for ports below 1024.',
    ),
  ),
  containerSecurityContexts: opt(
    described(
      containerSecurityContexts,
      'Security contexts per component. Each field takes precedence over the one that Steward sets.',
    ),
  ),
  autoscaling: opt(
    described(
      autoscaling,
      'Lets a HorizontalPodAutoscaler decide how many pods run. `replicas` is then only the number to start with, within these bounds, and 0 still puts the control plane to sleep.',
    ),
  ),
  podAdditionalMetadata: opt(described(additionalMetadata, 'Additional labels and annotations of the pods.')),
} as const;
