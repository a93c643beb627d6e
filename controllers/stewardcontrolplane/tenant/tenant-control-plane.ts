import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlaneSpec } from '../../../api/controlplane/steward-control-plane-spec.ts';
import { dataStoreFields, placementFields } from '../../../api/embedded/data-store-fields.ts';
import { deploymentFields } from '../../../api/embedded/deployment-fields.ts';
import { kubernetesFields } from '../../../api/embedded/kubernetes-fields.ts';
import { sleepFields } from '../../../api/embedded/sleep.ts';
import {
  gatewayFields,
  ingressFields,
  loadBalancerFields,
  networkFields,
  serviceFields,
} from '../../../api/embedded/network-fields.ts';
import type { Manifest } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type {
  TenantControlPlane,
  TenantControlPlaneSpecInput,
} from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isIpAddress } from '../../../kubeadm/networks.ts';
import { normalizeVersion } from '../../../kubeadm/versions.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { annotations } from '../../../api/names.ts';
import { withoutPort } from '../infrastructure/host-and-port.ts';
import type { RestoreState } from '../restore/restore-state.ts';
import { restoreName } from '../restore/restore-state.ts';
import { clusterUpgrade } from '../upgrade/cluster-upgrade.ts';
import { handDown } from './hand-down.ts';
import { restartMark } from './restart-mark.ts';

type ControlPlane = TenantControlPlaneSpecInput['controlPlane'];
type NetworkProfile = NonNullable<TenantControlPlaneSpecInput['networkProfile']>;
type Addons = NonNullable<TenantControlPlaneSpecInput['addons']>;
type Deployment = NonNullable<ControlPlane['deployment']>;

/** Annotations that belong to the object they stand on and are not handed down. */
const personal =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|cluster\.x-k8s\.io\/(paused|cloned-from.*)|topology\.cluster\.x-k8s\.io\/.*)$/;

/** Annotations of the TenantControlPlane that record whether it was restored: they are not taken from the StewardControlPlane. */
const ofRestores: readonly string[] = [annotations.awaitsRestore, annotations.restored];

/** Annotations that this controller decides about. */
const decidedHere: readonly string[] = [...ofRestores, annotations.clusterUpgrade];

/** What counts besides the two objects. */
export interface Seen {
  /** The TenantControlPlane that there is. */
  readonly existing?: TenantControlPlane | undefined;
  /** True while it stays at the version that it has. */
  readonly holdsVersion?: boolean;
  /** The state of the restore in the spec; absent where nothing is created. */
  readonly restore?: RestoreState;
  readonly now: Date;
}

/**
 * The TenantControlPlane behind a StewardControlPlane: same name and namespace, owned by it. Networks come from the
 * Cluster, everything else from the StewardControlPlane; fields that neither sets keep the TenantControlPlane's default.
 * Fields that both kinds have in a shared object are handed down without a line here; only the others have one. A
 * DataStore that was chosen for `existing` is set again, because leaving it out would remove it. A TenantControlPlane that
 * is deleted alone retains its data for the next one.
 */
export function tenantControlPlaneOf(scp: StewardControlPlane, cluster: CapiCluster, seen: Seen): Manifest {
  const { name, namespace } = scp.metadata;
  const handedDown = Object.entries(scp.metadata.annotations ?? {}).filter(
    ([key]) => !personal.test(key) && !decidedHere.includes(key),
  );
  const upgrade = clusterUpgrade(scp, cluster);
  return {
    apiVersion: `${tenantControlPlane.group}/${tenantControlPlane.version}`,
    kind: tenantControlPlane.kind,
    metadata: {
      name,
      namespace,
      labels: { ...scp.metadata.labels, [clusterNameLabel]: cluster.metadata.name },
      annotations: {
        ...Object.fromEntries(handedDown),
        [annotations.deletionPolicy]: 'Retain',
        ...(upgrade !== undefined && { [annotations.clusterUpgrade]: upgrade }),
        ...(seen.restore?.is === 'awaited' && { [annotations.awaitsRestore]: restoreName(scp) }),
      },
      ownerReferences: [ownerReferenceOf(scp)],
    },
    spec: tenantSpec(scp.spec, cluster, seen),
  };
}

function tenantSpec(
  spec: StewardControlPlaneSpec,
  cluster: CapiCluster,
  { existing, holdsVersion = false, restore, now }: Seen,
): TenantControlPlaneSpecInput {
  const restarted = restartMark({ after: spec.rollout?.after, existing, now });
  const dataStore = filled(spec.dataStoreName) ? spec.dataStoreName : existing?.spec.dataStore;
  return {
    dataStore,
    // Selector and tolerations would be refused once a DataStore is chosen or named.
    ...(filled(dataStore) ? {} : handDown(placementFields, spec)),
    ...handDown(dataStoreFields, spec),
    ...handDown(sleepFields, spec),
    controlPlane: {
      deployment: { ...deploymentOf(spec, restarted), replicas: replicasOf(spec, existing, restore) },
      service: serviceOf(spec),
      networkPolicy: spec.network.policy,
      ...exposureOf(spec),
    },
    kubernetes: {
      ...handDown(kubernetesFields, spec),
      version: normalizeVersion((holdsVersion ? existing?.spec.kubernetes.version : undefined) ?? spec.version),
    },
    networkProfile: networkOf(spec, cluster, existing),
    addons: addonsOf(spec),
  };
}

/** True for a string that is not empty. */
function filled(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

function deploymentOf(spec: StewardControlPlaneSpec, restarted: string | undefined): Deployment {
  const { apiServer, controllerManager, scheduler, kine, deployment = {} } = spec;
  const each = { apiServer, controllerManager, scheduler };
  return {
    registrySettings: {
      registry: spec.registry,
      apiServerImage: apiServer?.containerImageName,
      controllerManagerImage: controllerManager?.containerImageName,
      schedulerImage: scheduler?.containerImageName,
    },
    ...handDown(deploymentFields, deployment),
    podAdditionalMetadata: podMetadataOf(spec, restarted),
    additionalInitContainers: deployment.extraInitContainers,
    additionalContainers: deployment.extraContainers,
    additionalVolumes: deployment.extraVolumes,
    resources: byComponent({ ...each, kine }, (component) => component.resources),
    extraArgs: byComponent({ ...each, kine }, (component) => component.extraArgs),
    probes: probesOf(spec),
    additionalVolumeMounts: byComponent(each, (component) => component.extraVolumeMounts),
  };
}

/** None before the restore is complete. Until that is on record, it has as many pods as it has, so that none starts twice. */
function replicasOf(
  { replicas }: StewardControlPlaneSpec,
  existing: TenantControlPlane | undefined,
  restore: RestoreState | undefined,
): number {
  if (restore?.is === 'awaited') return 0;
  return restore?.is === 'complete' ? (existing?.spec.controlPlane.deployment.replicas ?? 0) : replicas;
}

function podMetadataOf(
  { deployment: { podAdditionalMetadata: given } = {} }: StewardControlPlaneSpec,
  restarted: string | undefined,
): Deployment['podAdditionalMetadata'] {
  if (restarted === undefined) return given;
  return { ...given, annotations: { ...given?.annotations, [annotations.rolloutAfter]: restarted } };
}

function probesOf(spec: StewardControlPlaneSpec): Deployment['probes'] {
  const { apiServer, controllerManager, scheduler } = spec;
  const each = byComponent({ apiServer, controllerManager, scheduler }, (component) => component.probes);
  const all = spec.deployment?.probes;
  return all === undefined && each === undefined ? undefined : { ...all, ...each };
}

/** One field of every component that has it; undefined when none has. */
function byComponent<C extends object, V>(
  components: Readonly<Record<string, C | undefined>>,
  read: (component: C) => V | undefined,
): Record<string, V> | undefined {
  const found = Object.entries(components).flatMap(([name, component]) => {
    const value = component === undefined ? undefined : read(component);
    return value === undefined ? [] : [[name, value] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function serviceOf({ network }: StewardControlPlaneSpec): ControlPlane['service'] {
  const { serviceLabels, serviceAnnotations } = network;
  return {
    ...handDown(serviceFields, network),
    additionalMetadata: (serviceLabels ?? serviceAnnotations) && {
      labels: serviceLabels,
      annotations: serviceAnnotations,
    },
    additionalPorts: network.additionalServicePorts,
  };
}

function exposureOf({ network }: StewardControlPlaneSpec): Pick<ControlPlane, 'ingress' | 'gateway'> {
  const { ingress, gateway } = network;
  const metadataOf = ({ extraLabels, extraAnnotations }: NonNullable<typeof ingress | typeof gateway>) => ({
    labels: extraLabels,
    annotations: extraAnnotations,
  });
  if (ingress !== undefined) {
    return {
      ingress: {
        ...handDown(ingressFields, ingress),
        hostname: ingress.hostname,
        ingressClassName: ingress.className,
        additionalMetadata: metadataOf(ingress),
      },
    };
  }
  if (gateway === undefined) return {};
  const single = gateway.name === undefined ? undefined : [{ name: gateway.name, namespace: gateway.namespace }];
  return {
    gateway: {
      ...handDown(gatewayFields, gateway),
      hostname: gateway.hostname,
      parentRefs: single ?? gateway.parentRefs,
      additionalMetadata: metadataOf(gateway),
    },
  };
}

function networkOf(
  spec: StewardControlPlaneSpec,
  cluster: CapiCluster,
  existing: TenantControlPlane | undefined,
): NetworkProfile {
  const { network, addons } = spec;
  const { loadBalancerConfig = {} } = network;
  return {
    ...clusterNetworkOf(cluster),
    ...handDown(networkFields, network),
    ...handDown(loadBalancerFields, loadBalancerConfig),
    address: filled(network.serviceAddress) ? network.serviceAddress : presetAddress(spec, cluster, existing),
    dnsServiceIPs: addons?.coreDNS?.dnsServiceIPs ?? network.dnsServiceIPs,
    certSANs: certSansOf(spec, presetHost(spec, cluster)),
  };
}

function clusterNetworkOf(cluster: CapiCluster): NetworkProfile {
  const { apiServerPort, services, pods, serviceDomain } = cluster.spec?.clusterNetwork ?? {};
  return {
    port: apiServerPort,
    serviceCidr: networks(services?.cidrBlocks),
    podCidr: networks(pods?.cidrBlocks),
    clusterDomain: filled(serviceDomain) ? serviceDomain : undefined,
  };
}

/** Networks of both families, the first of which decides. */
function networks(blocks: readonly string[] | undefined): string | undefined {
  return blocks === undefined || blocks.length === 0 ? undefined : blocks.join(',');
}

function certSansOf({ network }: StewardControlPlaneSpec, preset: string | undefined): readonly string[] | undefined {
  const hostname = network.ingress?.hostname ?? network.gateway?.hostname;
  const sans = [
    ...(network.certSANs ?? []),
    ...(hostname === undefined ? [] : [withoutPort(hostname)]),
    ...(preset === undefined || isIpAddress(preset) ? [] : [preset]),
  ];
  return sans.length > 0 ? [...new Set(sans)] : undefined;
}

/** The host that the author of the Cluster chose beforehand; one that the Cluster has from us is not. */
function presetHost(spec: StewardControlPlaneSpec, cluster: CapiCluster): string | undefined {
  const host = cluster.spec?.controlPlaneEndpoint?.host;
  return filled(host) && host !== spec.controlPlaneEndpoint?.host ? host : undefined;
}

/**
 * The address that the author of the Cluster chose beforehand: taken before an endpoint is published, and kept from then
 * on, since Cluster and workers know it. An endpoint that the Cluster has from us would pin an address that may still change.
 */
function presetAddress(
  spec: StewardControlPlaneSpec,
  cluster: CapiCluster,
  existing: TenantControlPlane | undefined,
): string | undefined {
  const host = cluster.spec?.controlPlaneEndpoint?.host;
  if (!filled(host) || !isIpAddress(host)) return undefined;
  if (existing?.spec.networkProfile.address === host) return host;
  if (filled(spec.network.advertiseAddress)) return undefined;
  const isPublished = (spec.network.ingress ?? spec.network.gateway) !== undefined;
  return filled(spec.controlPlaneEndpoint?.host) || isPublished ? undefined : host;
}

function addonsOf({ addons = {} }: StewardControlPlaneSpec): Addons {
  const { coreDNS, ...others } = addons;
  if (coreDNS === undefined) return others as Addons;
  const { imageRepository, imageTag, resources, extraArgs, tolerations } = coreDNS;
  return { ...others, coreDNS: { imageRepository, imageTag, resources, extraArgs, tolerations } } as Addons;
}
