import { containers, dataKeys, ports, volumes } from '../../../../api/names.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KubernetesVersion } from '../../../../kubeadm/versions.ts';
import { mergeArguments } from '../../shared/arguments.ts';
import { mostReplicas } from '../../shared/replicas.ts';
import { sharedResources } from '../../shared/shared-resources.ts';
import { readableMode } from '../../shared/pod-parts.ts';
import type { AddonPod, Container, VolumeMount } from '../../shared/pod-parts.ts';
import { restricted } from '../../shared/security-context.ts';
import { egressFolder, konnectivitySocket, konnectivitySocketFolder } from './egress-selector.ts';
import { konnectivityImage } from './konnectivity-programs.ts';
import { agentName, agentNamespace, konnectivityPorts } from './konnectivity-server.ts';
import { konnectivityUser } from './server-leaves.ts';

type Server = NonNullable<TenantControlPlane['spec']['addons']['konnectivity']>['server'];

const socket: VolumeMount = { name: volumes.konnectivitySocket, mountPath: konnectivitySocketFolder };

/** Where the konnectivity server finds its files. */
const konnectivityFiles = {
  kubeconfig: '/etc/kubernetes/konnectivity-server.conf',
  pki: '/etc/konnectivity/pki',
} as const;

/** Flags of proxy-server; our values win, because the pod and the agents rely on them. */
export function konnectivityServerArguments(tcp: TenantControlPlane, port: number): string[] {
  const extra = tcp.spec.addons.konnectivity?.server.extraArgs;
  const ours = {
    'admin-port': String(konnectivityPorts.admin),
    'agent-namespace': agentNamespace,
    'agent-port': String(port),
    'agent-service-account': agentName,
    'authentication-audience': konnectivityUser,
    'cluster-cert': `${konnectivityFiles.pki}/tls.crt`,
    'cluster-key': `${konnectivityFiles.pki}/tls.key`,
    'health-port': String(konnectivityPorts.health),
    kubeconfig: konnectivityFiles.kubeconfig,
    mode: 'grpc',
    // An agent connects to this many servers. The count stays above 0 so that the pods do not change when a control plane sleeps,
    // and is the highest while an autoscaler changes their number, which must not replace the pods either.
    'server-count': String(Math.max(mostReplicas(tcp), 1)),
    'server-port': '0',
    'uds-name': konnectivitySocket,
  };
  return mergeArguments(ours, { extra, winner: 'operator' });
}

/**
 * The konnectivity server runs as a sidecar (a restartable init container), which outlives the other containers (KEP-753): an API
 * server that stops can still reach nodes for its last requests.
 */
function konnectivitySidecar(tcp: TenantControlPlane, server: Server, version: KubernetesVersion): Container {
  const resources = server.resources ?? sharedResources(tcp);
  const port = (name: string, containerPort: number) => ({ name, containerPort, protocol: 'TCP' });
  return {
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
}

/** What the tunnel brings into the pods. */
export function konnectivityPod(tcp: TenantControlPlane, version: KubernetesVersion): AddonPod | undefined {
  if (tcp.spec.addons.konnectivity === undefined) return undefined;
  const names = tenantObjects(tcp.metadata.name);
  const defaultMode = readableMode;
  return {
    sidecars: [konnectivitySidecar(tcp, tcp.spec.addons.konnectivity.server, version)],
    volumes: [
      { name: volumes.konnectivitySocket, emptyDir: { medium: 'Memory' } },
      { name: volumes.konnectivityEgress, configMap: { name: names.konnectivityEgress, defaultMode } },
      { name: volumes.konnectivityKubeconfig, secret: { secretName: names.konnectivityKubeconfig, defaultMode } },
      { name: volumes.konnectivityCertificate, secret: { secretName: names.konnectivityCertificate, defaultMode } },
    ],
    apiServer: {
      arguments: { 'egress-selector-config-file': `${egressFolder}/${dataKeys.konnectivityEgress}` },
      mounts: [socket, { name: volumes.konnectivityEgress, mountPath: egressFolder, readOnly: true }],
    },
  };
}
