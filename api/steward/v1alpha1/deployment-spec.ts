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
  registry: opt(str(), defaultRegistry.registry),
  apiServerImage: opt(str(), defaultRegistry.apiServerImage),
  controllerManagerImage: opt(str(), defaultRegistry.controllerManagerImage),
  schedulerImage: opt(str(), defaultRegistry.schedulerImage),
  tagSuffix: opt(described(str(), 'Suffix of the image tags, appended to the Kubernetes version.')),
});

const quantities = map(quantity());

const componentResources = obj({
  apiServer: opt(core('ResourceRequirements')),
  controllerManager: opt(core('ResourceRequirements')),
  scheduler: opt(core('ResourceRequirements')),
  kine: opt(core('ResourceRequirements')),
  limits: opt(described(quantities, 'Limits of every container without an entry of its own in `resources`.')),
  requests: opt(described(quantities, 'Requests of every container without an entry of its own in `resources`.')),
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
  additionalInitContainers: opt(list(core('Container'))),
  additionalContainers: opt(list(core('Container'))),
  additionalVolumes: opt(list(core('Volume'))),
  additionalVolumeMounts: opt(described(volumeMounts, 'Additional volume mounts per component.')),
});
export type DeploymentSpec = Infer<typeof deploymentSpec>;
