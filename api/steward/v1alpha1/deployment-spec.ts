import { core } from '../../core/core-schema.ts';
import { additionalMetadata } from '../../embedded/object-metadata.ts';
import { probeTimingFields, probeTimings } from '../../embedded/probes.ts';
import type { Infer } from '../../schema.ts';
import { described, int32, list, map, obj, opt, quantity, str } from '../../schema.ts';

const defaultRegistry = {
  registry: 'registry.k8s.io',
  apiServerImage: 'kube-apiserver',
  controllerManagerImage: 'kube-controller-manager',
  schedulerImage: 'kube-scheduler',
} as const;

const registrySettings = obj({
  registry: opt(str(), defaultRegistry.registry),
  apiServerImage: opt(str(), defaultRegistry.apiServerImage),
  controllerManagerImage: opt(str(), defaultRegistry.controllerManagerImage),
  schedulerImage: opt(str(), defaultRegistry.schedulerImage),
  tagSuffix: opt(described(str(), 'Appended to the tag, which is the Kubernetes version.')),
});

const quantities = map(quantity());

const componentResources = obj({
  apiServer: opt(core('ResourceRequirements')),
  controllerManager: opt(core('ResourceRequirements')),
  scheduler: opt(core('ResourceRequirements')),
  kine: opt(core('ResourceRequirements')),
  limits: opt(described(quantities, 'Limits of every container that has no resources of its own here.')),
  requests: opt(described(quantities, 'Requests of every container that has no resources of its own here.')),
});

const extraArgs = obj({
  apiServer: opt(list(str())),
  controllerManager: opt(list(str())),
  scheduler: opt(list(str())),
  kine: opt(list(str())),
});

const volumeMounts = obj({
  apiServer: opt(list(core('VolumeMount'))),
  controllerManager: opt(list(core('VolumeMount'))),
  scheduler: opt(list(core('VolumeMount'))),
});

const probes = obj({
  ...probeTimingFields,
  apiServer: opt(probeTimings),
  controllerManager: opt(probeTimings),
  scheduler: opt(probeTimings),
});

/** The pods of a control plane. */
export const deploymentSpec = obj({
  registrySettings: opt(described(registrySettings, 'Where the images come from.'), defaultRegistry),
  replicas: opt(described(int32(), 'Pods of the control plane; 0 puts it to sleep.'), 2),
  nodeSelector: opt(map(str())),
  runtimeClassName: opt(str()),
  priorityClassName: opt(described(str(), 'PriorityClass of the pods, which must exist; none when empty.')),
  strategy: opt(core('DeploymentStrategy'), {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' },
  }),
  tolerations: opt(list(core('Toleration'))),
  affinity: opt(core('Affinity')),
  topologySpreadConstraints: opt(
    described(
      list(core('TopologySpreadConstraint')),
      'Without a label selector a constraint selects the pods of this control plane. Without any, the pods are spread over nodes as far as that is possible.',
    ),
  ),
  resources: opt(described(componentResources, 'Compute resources by component.')),
  extraArgs: opt(described(extraArgs, 'Further flags by component, as `--flag=value`; they win over those of ours.')),
  probes: opt(
    described(
      probes,
      'Timing of the probes of all three components, and by component; what is left out keeps its default.',
    ),
  ),
  additionalMetadata: opt(described(additionalMetadata, 'Labels and annotations of the Deployment.')),
  podAdditionalMetadata: opt(described(additionalMetadata, 'Labels and annotations of its pods.')),
  additionalInitContainers: opt(list(core('Container'))),
  additionalContainers: opt(list(core('Container'))),
  additionalVolumes: opt(list(core('Volume'))),
  additionalVolumeMounts: opt(described(volumeMounts, 'Further mounts by component.')),
  serviceAccountName: opt(str(), 'default'),
});
export type DeploymentSpec = Infer<typeof deploymentSpec>;
