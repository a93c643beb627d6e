import { containers, dataKeys, ports, volumes } from '../../../../api/names.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ControlPlaneInput } from '../../shared/control-plane-input.ts';
import { sharedResources } from '../../shared/shared-resources.ts';
import type { Container, Volume, VolumeMount } from '../../shared/pod-parts.ts';
import { restricted } from '../../shared/security-context.ts';
import { egressFolder, konnectivitySocketFolder } from './egress-selector.ts';
import { konnectivityImage } from './konnectivity-image.ts';
import { konnectivityFiles, konnectivityPorts, konnectivityServerArguments } from './server-arguments.ts';

const socket: VolumeMount = { name: volumes.konnectivitySocket, mountPath: konnectivitySocketFolder };

/** What kube-apiserver mounts to use the tunnel. */
export function tunnelMounts(tcp: TenantControlPlane): readonly VolumeMount[] {
  if (tcp.spec.addons.konnectivity === undefined) return [];
  return [socket, { name: volumes.konnectivityEgress, mountPath: egressFolder, readOnly: true }];
}

/**
 * The konnectivity server runs as a sidecar (a restartable init container), which outlives the other containers (KEP-753): an API
 * server that stops can still reach nodes for its last requests.
 */
export function konnectivitySidecar({
  tcp,
  version,
}: Pick<ControlPlaneInput, 'tcp' | 'version'>): readonly Container[] {
  const server = tcp.spec.addons.konnectivity?.server;
  if (server === undefined) return [];
  const resources = server.resources ?? sharedResources(tcp);
  const port = (name: string, containerPort: number) => ({ name, containerPort, protocol: 'TCP' });
  const made: Container = {
    name: containers.konnectivity,
    image: konnectivityImage(version, server),
    imagePullPolicy: 'IfNotPresent',
    command: ['/proxy-server'],
    args: konnectivityServerArguments(tcp, server.port),
    restartPolicy: 'Always',
    ports: [
      port(ports.konnectivityAgent, server.port),
      port(ports.konnectivityAdmin, konnectivityPorts.admin),
      port(ports.konnectivityHealth, konnectivityPorts.health),
    ],
    // Not /readyz: that needs a connected agent, and agents need this pod first.
    livenessProbe: {
      httpGet: { path: '/healthz', port: konnectivityPorts.health, scheme: 'HTTP' },
      initialDelaySeconds: 30,
      timeoutSeconds: 60,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    // A quantity may be a number; the client's model knows strings only.
    ...(resources !== undefined && { resources: resources as NonNullable<Container['resources']> }),
    securityContext: { ...restricted(), ...server.securityContext },
    volumeMounts: [
      {
        name: volumes.konnectivityKubeconfig,
        mountPath: konnectivityFiles.kubeconfig,
        subPath: dataKeys.konnectivityKubeconfig,
        readOnly: true,
      },
      { name: volumes.konnectivityCertificate, mountPath: konnectivityFiles.pki, readOnly: true },
      socket,
    ],
  };
  return [made];
}

/** The volumes of the tunnel; without the add-on none. */
export function tunnelVolumes(tcp: TenantControlPlane, mode: number): readonly Volume[] {
  if (tcp.spec.addons.konnectivity === undefined) return [];
  const names = tenantObjects(tcp.metadata.name ?? '');
  return [
    { name: volumes.konnectivitySocket, emptyDir: { medium: 'Memory' } },
    { name: volumes.konnectivityEgress, configMap: { name: names.konnectivityEgress, defaultMode: mode } },
    { name: volumes.konnectivityKubeconfig, secret: { secretName: names.konnectivityKubeconfig, defaultMode: mode } },
    { name: volumes.konnectivityCertificate, secret: { secretName: names.konnectivityCertificate, defaultMode: mode } },
  ];
}
