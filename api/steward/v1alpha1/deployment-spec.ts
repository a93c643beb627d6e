import { core } from '../../core/core-schema.ts';
import { deploymentFields } from '../../embedded/deployment-fields.ts';
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
  registry: opt(
    described(str(), 'Registry, and the folder in it, of the images of Kubernetes.'),
    defaultRegistry.registry,
  ),
  apiServerImage: opt(
    described(str(), 'Name of the image of kube-apiserver, without registry and tag.'),
    defaultRegistry.apiServerImage,
  ),
  controllerManagerImage: opt(
    described(str(), 'Name of the image of kube-controller-manager, without registry and tag.'),
    defaultRegistry.controllerManagerImage,
  ),
  schedulerImage: opt(
    described(str(), 'Name of the image of kube-scheduler, without registry and tag.'),
    defaultRegistry.schedulerImage,
  ),
  tagSuffix: opt(described(str(), 'Suffix of the image tags, appended to the Kubernetes version.')),
});

const quantities = map(quantity());

const componentResources = obj({
  apiServer: opt(described(core('ResourceRequirements'), 'Compute resources of the container kube-apiserver.')),
  controllerManager: opt(
    described(core('ResourceRequirements'), 'Compute resources of the container kube-controller-manager.'),
  ),
  scheduler: opt(described(core('ResourceRequirements'), 'Compute resources of the container kube-scheduler.')),
  kine: opt(described(core('ResourceRequirements'), 'Compute resources of the container kine.')),
  limits: opt(described(quantities, 'Limits of every container without an entry of its own in `resources`.')),
  requests: opt(described(quantities, 'Requests of every container without an entry of its own in `resources`.')),
});

const extraArgs = obj({
  apiServer: opt(described(list(str()), 'Additional flags of kube-apiserver.')),
  controllerManager: opt(described(list(str()), 'Additional flags of kube-controller-manager.')),
  scheduler: opt(described(list(str()), 'Additional flags of kube-scheduler.')),
  kine: opt(described(list(str()), 'Additional flags of kine.')),
});

const volumeMounts = obj({
  apiServer: opt(described(list(core('VolumeMount')), 'Additional volume mounts of the container kube-apiserver.')),
  controllerManager: opt(
    described(list(core('VolumeMount')), 'Additional volume mounts of the container kube-controller-manager.'),
  ),
  scheduler: opt(described(list(core('VolumeMount')), 'Additional volume mounts of the container kube-scheduler.')),
});

const probes = obj({
  ...probeTimingFields,
  apiServer: opt(
    described(
      probeTimings,
      'Probe timing of kube-apiserver. Its fields take precedence over those for all components.',
    ),
  ),
  controllerManager: opt(
    described(
      probeTimings,
      'Probe timing of kube-controller-manager. Its fields take precedence over those for all components.',
    ),
  ),
  scheduler: opt(
    described(
      probeTimings,
      'Probe timing of kube-scheduler. Its fields take precedence over those for all components.',
    ),
  ),
});

/** Pods of a control plane. */
export const deploymentSpec = obj({
  registrySettings: opt(described(registrySettings, 'Registry and names of the images.'), defaultRegistry),
  replicas: opt(described(int32(), 'Number of control plane pods. 0 puts the tenant to sleep.'), 2),
  ...deploymentFields,
  serviceAccountName: opt(deploymentFields.serviceAccountName.optional, 'default'),
  strategy: opt(deploymentFields.strategy.optional, {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' },
  }),
  resources: opt(described(componentResources, 'Compute resources per component.')),
  extraArgs: opt(
    described(
      extraArgs,
      'Additional flags per component, as `--flag=value`. They take precedence over flags that Steward sets.',
    ),
  ),
  probes: opt(
    described(probes, 'Probe timing, for all three components and per component. Unset fields keep their defaults.'),
  ),
  additionalInitContainers: opt(described(list(core('Container')), 'Additional init containers of the pods.')),
  additionalContainers: opt(described(list(core('Container')), 'Additional containers of the pods.')),
  additionalVolumes: opt(described(list(core('Volume')), 'Additional volumes of the pods.')),
  additionalVolumeMounts: opt(described(volumeMounts, 'Additional volume mounts per component.')),
});
export type DeploymentSpec = Infer<typeof deploymentSpec>;
