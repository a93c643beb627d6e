import type { Manifest } from '../../../api/meta.ts';
import { podSelector } from '../shared/pod-selector.ts';
import { annotations, componentChecksumLabel, labels, tenantObjects } from '../../../api/names.ts';
import type { DeploymentSpec } from '../../../api/steward/v1alpha1/deployment-spec.ts';
import { shutdownDelaySeconds } from './api-server-arguments.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';
import { dataStoreLabel } from '../shared/data-store-label.ts';
import { defaultSpread } from './default-spread.ts';
import { images } from '../shared/images.ts';
import { appliedReplicas } from '../shared/replicas.ts';
import { ownedManifest } from '../shared/owned-manifest.ts';
import type { Container, DeploymentStrategy, PodSpec } from '../shared/pod-parts.ts';
import { kineSidecar, systemContainers } from './system-containers.ts';
import { systemVolumes } from './system-volumes.ts';

/** Value of the component label on the Deployment and its pods. */
export const deploymentComponent = 'deployment';

/**
 * Termination grace period of the pods in seconds: the API server's delay and time for running requests, at least the usual 30.
 */
const terminationGraceSeconds = shutdownDelaySeconds + 20;

function strategy({ strategy: given }: DeploymentSpec): DeploymentStrategy {
  if (given.type === 'Recreate') return { type: 'Recreate' };
  return { type: 'RollingUpdate', rollingUpdate: given.rollingUpdate ?? { maxUnavailable: 0, maxSurge: '100%' } };
}

function podLabels(input: ControlPlaneInput): Readonly<Record<string, string>> {
  const own: Record<string, string> = { ...podSelector(input.tcp), [labels.component]: deploymentComponent };
  for (const [component, sum] of Object.entries(input.checksums)) own[componentChecksumLabel(component)] = sum;
  own[componentChecksumLabel('datastore')] = dataStoreLabel(input.dataStoreName);
  return { ...input.tcp.spec.controlPlane.deployment.podAdditionalMetadata?.labels, ...own };
}

/** The placement fields of the pods, as the author set them. */
function placement(input: ControlPlaneInput, spec: DeploymentSpec): Partial<PodSpec> {
  const { nodeSelector, tolerations, affinity, hostUsers, runtimeClassName = '', priorityClassName = '' } = spec;
  const selector = podSelector(input.tcp);
  const { topologySpreadConstraints: given = [] } = spec;
  const spread =
    given.length > 0 ? given : defaultSpread({ selector, image: images(input).apiServer, present: input.present });
  return {
    nodeSelector,
    tolerations,
    affinity,
    ...(runtimeClassName !== '' && { runtimeClassName }),
    ...(hostUsers !== undefined && { hostUsers }),
    ...(priorityClassName !== '' && { priorityClassName }),
    ...(spread.length > 0 && {
      topologySpreadConstraints: spread.map((constraint) => ({
        ...constraint,
        labelSelector: constraint.labelSelector ?? { matchLabels: selector },
      })),
    }),
  };
}

/** That of the author. A safe sysctl of the pod's own network is added for a low port, which then needs no capability. */
function podSecurityContext({ podSecurityContext: given }: DeploymentSpec, lowestPort: number): Partial<PodSpec> {
  const ours = lowestPort < 1024 ? [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] : [];
  const others = ours.filter(({ name }) => given?.sysctls?.every((sysctl) => sysctl.name !== name) ?? true);
  const sysctls = [...others, ...(given?.sysctls ?? [])];
  if (given === undefined && sysctls.length === 0) return {};
  return { securityContext: { ...given, ...(sysctls.length > 0 && { sysctls }) } };
}

/** The author's additional containers, with what parts of Steward mount into them. */
function additional({ addons = [] }: ControlPlaneInput, given: readonly Container[] = []): readonly Container[] {
  return given.map((container) => {
    const ours = addons.flatMap(({ additionalMounts }) => additionalMounts?.get(container.name) ?? []);
    return ours.length === 0 ? container : { ...container, volumeMounts: [...(container.volumeMounts ?? []), ...ours] };
  });
}

function podSpec(input: ControlPlaneInput): PodSpec {
  const { addons = [] } = input;
  const spec = input.tcp.spec.controlPlane.deployment;
  const { imagePullSecrets = [] } = spec;
  const ofAddons = addons.flatMap(({ sidecars = [], containers = [] }) => [...sidecars, ...containers]);
  const addonPorts = ofAddons.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort));
  const initContainers = [
    ...additional(input, spec.additionalInitContainers),
    ...kineSidecar(input),
    ...addons.flatMap(({ sidecars = [] }) => sidecars),
  ];
  return {
    ...placement(input, spec),
    ...(initContainers.length > 0 && { initContainers }),
    automountServiceAccountToken: spec.automountServiceAccountToken ?? false,
    containers: [
      ...additional(input, spec.additionalContainers),
      ...systemContainers(input),
      ...addons.flatMap(({ containers = [] }) => containers),
    ],
    enableServiceLinks: false,
    ...(imagePullSecrets.length > 0 && { imagePullSecrets }),
    ...podSecurityContext(spec, Math.min(input.endpoint.port, ...addonPorts)),
    serviceAccountName: spec.serviceAccountName === '' ? 'default' : spec.serviceAccountName,
    terminationGracePeriodSeconds: terminationGraceSeconds,
    volumes: [...(spec.additionalVolumes ?? []), ...systemVolumes(input)],
  };
}

/** The Deployment of a control plane. */
export function deployment(input: ControlPlaneInput): Manifest {
  const { tcp } = input;
  const spec = tcp.spec.controlPlane.deployment;
  return ownedManifest(tcp, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: tenantObjects(tcp.metadata.name).deployment,
    component: deploymentComponent,
    labels: spec.additionalMetadata?.labels,
    annotations: spec.additionalMetadata?.annotations,
    body: {
      spec: {
        replicas: appliedReplicas(tcp, input.present),
        selector: { matchLabels: podSelector(tcp) },
        strategy: strategy(spec),
        template: {
          metadata: {
            labels: podLabels(input),
            annotations: {
              ...spec.podAdditionalMetadata?.annotations,
              [annotations.storageConfig]: input.storageChecksum,
            },
          },
          spec: podSpec(input),
        },
      },
    },
  });
}
