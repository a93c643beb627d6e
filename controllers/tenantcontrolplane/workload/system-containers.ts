import type { Container, ResourceRequirements, SecurityContext, VolumeMount } from '../shared/pod-parts.ts';
import { containers, tenantObjects, volumes } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kineFilesFolder } from '../../../stores/driver.ts';
import { apiServerArguments } from './api-server-arguments.ts';
import { controllerManagerArguments } from './controller-manager-arguments.ts';
import { componentPorts } from './component-ports.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';
import { overrideHealthExclusions } from '../datastore/overrides/etcd-overrides.ts';
import { images } from '../shared/images.ts';
import { kineArguments, kineSocketFolder } from '../datastore/kine-arguments.ts';
import { probes } from './probes.ts';
import type { Health } from './probes.ts';
import { schedulerArguments } from './scheduler-arguments.ts';
import { restricted } from '../shared/security-context.ts';
import { sharedResources } from '../shared/shared-resources.ts';
import { controllerManagerPki } from './system-volumes.ts';

type Component = 'apiServer' | 'controllerManager' | 'scheduler' | 'kine';

const controllerManagerHealth: Health = { port: componentPorts.controllerManager, live: '/healthz' };
const schedulerHealth: Health = { port: componentPorts.scheduler, live: '/healthz' };

/** The component's own requirements, or those that the author set for every container. */
function resources({ tcp }: ControlPlaneInput, component: Component): ResourceRequirements | undefined {
  return tcp.spec.controlPlane.deployment.resources?.[component] ?? sharedResources(tcp);
}

/** Security context of a container: the fields that the author set win over ours, one by one. */
export function securityContextOf(tcp: TenantControlPlane, component: Component): SecurityContext {
  // The file in Kubernetes' image carries cap_net_bind_service.
  const ours = restricted(component === 'apiServer' ? ['NET_BIND_SERVICE'] : []);
  return { ...ours, ...tcp.spec.controlPlane.deployment.containerSecurityContexts?.[component] };
}

function mounts(input: ControlPlaneInput, component: Component, ours: readonly VolumeMount[]): readonly VolumeMount[] {
  const given = input.tcp.spec.controlPlane.deployment.additionalVolumeMounts ?? {};
  return [...(component === 'kine' ? [] : (given[component] ?? [])), ...ours];
}

function container(input: ControlPlaneInput, component: Component, rest: Container): Container {
  const required = resources(input, component);
  // A quantity may be a number; the client's model knows strings only.
  const asModel = required as Container['resources'];
  return { imagePullPolicy: 'IfNotPresent', resources: asModel, ...rest };
}

function timed({ tcp }: ControlPlaneInput, component: Exclude<Component, 'kine'>, health: Health): Partial<Container> {
  const given = tcp.spec.controlPlane.deployment.probes;
  return probes(health, given, given?.[component]);
}

/**
 * A restart does not help an API server whose datastore is unreachable: it keeps running, not ready, and serves again when the
 * datastore is back.
 */
function apiServerHealth({ endpoint, overrides = [] }: ControlPlaneInput): Health {
  const { live, ready } = overrideHealthExclusions(overrides);
  const excluding = (path: string, checks: readonly string[]): string =>
    checks.length === 0 ? path : `${path}?${checks.map((check) => `exclude=${check}`).join('&')}`;
  return { port: endpoint.port, live: excluding('/livez', ['etcd', ...live]), ready: excluding('/readyz', ready) };
}

function apiServer(input: ControlPlaneInput): Container {
  return container(input, 'apiServer', {
    name: containers.apiServer,
    image: images(input).apiServer,
    command: ['kube-apiserver'],
    args: apiServerArguments(input),
    ...timed(input, 'apiServer', apiServerHealth(input)),
    securityContext: securityContextOf(input.tcp, 'apiServer'),
    volumeMounts: mounts(input, 'apiServer', [
      { name: volumes.pki, mountPath: '/etc/kubernetes/pki', readOnly: true },
      ...(input.store.kind === 'kine' ? [{ name: volumes.kineSocket, mountPath: kineSocketFolder }] : []),
      ...(input.addons ?? []).flatMap((addon) => addon.apiServer?.mounts ?? []),
    ]),
  });
}

function scheduler(input: ControlPlaneInput): Container {
  return container(input, 'scheduler', {
    name: containers.scheduler,
    image: images(input).scheduler,
    command: ['kube-scheduler'],
    args: schedulerArguments(input),
    ...timed(input, 'scheduler', schedulerHealth),
    securityContext: securityContextOf(input.tcp, 'scheduler'),
    volumeMounts: mounts(input, 'scheduler', [
      { name: volumes.schedulerKubeconfig, mountPath: '/etc/kubernetes', readOnly: true },
    ]),
  });
}

function controllerManager(input: ControlPlaneInput): Container {
  return container(input, 'controllerManager', {
    name: containers.controllerManager,
    image: images(input).controllerManager,
    command: ['kube-controller-manager'],
    args: controllerManagerArguments(input),
    ...timed(input, 'controllerManager', controllerManagerHealth),
    securityContext: securityContextOf(input.tcp, 'controllerManager'),
    volumeMounts: mounts(input, 'controllerManager', [
      { name: volumes.controllerManagerKubeconfig, mountPath: '/etc/kubernetes', readOnly: true },
      { name: controllerManagerPki, mountPath: '/etc/kubernetes/pki', readOnly: true },
    ]),
  });
}

/**
 * kine, if the datastore needs it, as a sidecar (a restartable init container), which outlives the other containers (KEP-753): an
 * API server that stops can still read and write for its last requests.
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
    envFrom: [{ secretRef: { name: tenantObjects(tcp.metadata.name).dataStoreConfig } }],
    securityContext: securityContextOf(tcp, 'kine'),
    volumeMounts: [
      { name: volumes.kineSocket, mountPath: kineSocketFolder },
      { name: volumes.kineConfig, mountPath: kineFilesFolder, readOnly: true },
    ],
  });
  return [made];
}

/** The containers of a control plane, in the order of existing installations. */
export function systemContainers(input: ControlPlaneInput): readonly Container[] {
  return [apiServer(input), scheduler(input), controllerManager(input)];
}
