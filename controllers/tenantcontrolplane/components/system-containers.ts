import type { Container, ResourceRequirements, VolumeMount } from './pod-parts.ts';
import { containers, tenantObjects, volumes } from '../../../api/names.ts';
import { kineFilesFolder } from '../../../stores/driver.ts';
import { apiServerArguments } from './api-server-arguments.ts';
import { controllerManagerArguments } from './controller-manager-arguments.ts';
import type { ControlPlaneInput } from './control-plane-input.ts';
import { overrideHealthExclusions } from './etcd-overrides.ts';
import { images } from './images.ts';
import { kineArguments, kineSocketFolder } from './kine-arguments.ts';
import { tunnelMounts } from './konnectivity/server-container.ts';
import { probes } from './probes.ts';
import type { Health } from './probes.ts';
import { schedulerArguments } from './scheduler-arguments.ts';
import { restricted } from './security-context.ts';
import { sharedResources } from './shared-resources.ts';
import { controllerManagerPki } from './system-volumes.ts';

type Component = 'apiServer' | 'controllerManager' | 'scheduler' | 'kine';

const controllerManagerHealth: Health = { port: 10257, live: '/healthz' };
const schedulerHealth: Health = { port: 10259, live: '/healthz' };

/** The component's own requirements, or those that the author gave for every container. */
function resources({ tcp }: ControlPlaneInput, component: Component): ResourceRequirements | undefined {
  return tcp.spec.controlPlane.deployment.resources?.[component] ?? sharedResources(tcp);
}

function mounts(input: ControlPlaneInput, component: Component, ours: readonly VolumeMount[]): readonly VolumeMount[] {
  const given = input.tcp.spec.controlPlane.deployment.additionalVolumeMounts ?? {};
  return [...(component === 'kine' ? [] : (given[component] ?? [])), ...ours];
}

function container(input: ControlPlaneInput, component: Component, rest: Container): Container {
  const required = resources(input, component);
  // A quantity may be a number; the client's model knows strings only.
  const asModel = required as Container['resources'];
  return { imagePullPolicy: 'IfNotPresent', ...(asModel !== undefined && { resources: asModel }), ...rest };
}

function timed({ tcp }: ControlPlaneInput, component: Exclude<Component, 'kine'>, health: Health): Partial<Container> {
  const given = tcp.spec.controlPlane.deployment.probes;
  return probes(health, given, given?.[component]);
}

/** Another start helps no API server whose store is away: it stays, unready, and serves again when the store is back. */
function apiServerHealth({ endpoint, overrides = [] }: ControlPlaneInput): Health {
  const { live, ready } = overrideHealthExclusions(overrides);
  const excluding = (path: string, checks: readonly string[]): string =>
    checks.length === 0 ? path : `${path}?${checks.map((check) => `exclude=${check}`).join('&')}`;
  return { port: endpoint.port, live: excluding('/livez', ['etcd', ...live]), ready: excluding('/readyz', ready) };
}

function apiServer(input: ControlPlaneInput): Container {
  return container(input, 'apiServer', {
    name: containers.apiServer,
    image: images(input.tcp).apiServer,
    command: ['kube-apiserver'],
    args: apiServerArguments(input),
    ...timed(input, 'apiServer', apiServerHealth(input)),
    // The file in Kubernetes' image carries cap_net_bind_service.
    securityContext: restricted(['NET_BIND_SERVICE']),
    volumeMounts: mounts(input, 'apiServer', [
      { name: volumes.pki, mountPath: '/etc/kubernetes/pki', readOnly: true },
      ...(input.store.kind === 'kine' ? [{ name: volumes.kineSocket, mountPath: kineSocketFolder }] : []),
      ...tunnelMounts(input.tcp),
    ]),
  });
}

function scheduler(input: ControlPlaneInput): Container {
  return container(input, 'scheduler', {
    name: containers.scheduler,
    image: images(input.tcp).scheduler,
    command: ['kube-scheduler'],
    args: schedulerArguments(input),
    ...timed(input, 'scheduler', schedulerHealth),
    securityContext: restricted(),
    volumeMounts: mounts(input, 'scheduler', [
      { name: volumes.schedulerKubeconfig, mountPath: '/etc/kubernetes', readOnly: true },
    ]),
  });
}

function controllerManager(input: ControlPlaneInput): Container {
  return container(input, 'controllerManager', {
    name: containers.controllerManager,
    image: images(input.tcp).controllerManager,
    command: ['kube-controller-manager'],
    args: controllerManagerArguments(input),
    ...timed(input, 'controllerManager', controllerManagerHealth),
    securityContext: restricted(),
    volumeMounts: mounts(input, 'controllerManager', [
      { name: volumes.controllerManagerKubeconfig, mountPath: '/etc/kubernetes', readOnly: true },
      { name: controllerManagerPki, mountPath: '/etc/kubernetes/pki', readOnly: true },
    ]),
  });
}

/**
 * kine, where the store needs it: an init container that goes on, since such a one outlives the others (KEP-753). An API server
 * that stops thus still reads and writes for its last callers.
 */
export function kineSidecar(input: ControlPlaneInput): readonly Container[] {
  const { store, storeTls: tls, tcp } = input;
  if (store.kind !== 'kine') return [];
  const extra = tcp.spec.controlPlane.deployment.extraArgs?.kine;
  const made = container(input, 'kine', {
    name: containers.kine,
    image: input.kineImage,
    command: ['/bin/kine'],
    args: kineArguments({ binding: store, tls, extra }),
    restartPolicy: 'Always',
    envFrom: [{ secretRef: { name: tenantObjects(tcp.metadata.name ?? '').dataStoreConfig } }],
    securityContext: restricted(),
    volumeMounts: [
      { name: volumes.kineSocket, mountPath: kineSocketFolder },
      { name: volumes.kineConfig, mountPath: kineFilesFolder, readOnly: true },
    ],
  });
  return [made];
}

/** The programs of a control plane, in the order existing installations know. */
export function systemContainers(input: ControlPlaneInput): readonly Container[] {
  return [apiServer(input), scheduler(input), controllerManager(input)];
}
