import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { projectLabels } from '../../../../kubeadm/manifest-labels.ts';
import { clusterRoleBinding } from '../../../../kubeadm/rbac.ts';
import type { KubernetesVersion } from '../../../../kubeadm/versions.ts';
import { mergeArguments } from '../../shared/arguments.ts';
import { restricted } from '../../shared/security-context.ts';
import type { AgentAddress } from './agent-address.ts';
import { agentName as name, agentNamespace as namespace } from './konnectivity-server.ts';
import { konnectivityImage } from './konnectivity-programs.ts';
import { konnectivityPorts } from './konnectivity-server.ts';
import { konnectivityUser } from './server-leaves.ts';

type Fields = Readonly<Record<string, unknown>>;
type Agent = NonNullable<TenantControlPlane['spec']['addons']['konnectivity']>['agent'];

/** What the agents are made for besides the spec. */
export interface AgentInput {
  /** Where they reach the servers. */
  readonly address: AgentAddress;
  /** The version of Kubernetes that the control plane gets. */
  readonly version: KubernetesVersion;
}

/** The kinds of the objects that the agents need inside a tenant. */
export const agentKinds: readonly KindRef[] = [
  kinds.ServiceAccount,
  kinds.ClusterRoleBinding,
  kinds.Deployment,
  kinds.DaemonSet,
];

const tokenVolume = 'konnectivity-agent-token';
const tokenFolder = '/var/run/secrets/tokens';
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const selector = { 'k8s-app': name };

/** What the Go Steward put beside the project's label. */
const addonLabels = { 'kubernetes.io/cluster-service': 'true', 'addonmanager.kubernetes.io/mode': 'Reconcile' };

function withLabels(manifest: Manifest, labels: Readonly<Record<string, string>>): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, labels: { ...manifest.metadata.labels, ...labels } } };
}

function container(agent: Agent, { address: { host, port }, version }: AgentInput): Fields {
  const ours = {
    'admin-server-port': String(konnectivityPorts.admin),
    'ca-cert': `${accountFolder}/ca.crt`,
    'health-server-port': String(konnectivityPorts.health),
    logtostderr: 'true',
    'proxy-server-host': host,
    'proxy-server-port': String(port),
    'service-account-token-path': `${tokenFolder}/${tokenVolume}`,
    // The agents also connect to servers that they do not know yet, so that new pods of a rollout have agents before the old pods end.
    'sync-forever': 'true',
    'sync-interval': '5s',
  };
  return {
    name,
    image: konnectivityImage(version, agent),
    imagePullPolicy: 'IfNotPresent',
    command: ['/proxy-agent'],
    args: mergeArguments(ours, { extra: agent.extraArgs, winner: 'user' }),
    livenessProbe: {
      httpGet: { path: '/healthz', port: konnectivityPorts.health, scheme: 'HTTP' },
      initialDelaySeconds: 15,
      timeoutSeconds: 15,
      periodSeconds: 10,
    },
    securityContext: restricted(),
    volumeMounts: [{ name: tokenVolume, mountPath: tokenFolder, readOnly: true }],
  };
}

function template(agent: Agent, input: AgentInput): Fields {
  const { byName } = input.address;
  const onHost = agent.hostNetwork || byName;
  // The name is resolved like on the node: the tenant's own DNS may not run yet, or may need this very tunnel.
  const dnsPolicy = byName ? 'Default' : 'ClusterFirstWithHostNet';
  return {
    metadata: { labels: selector },
    spec: {
      priorityClassName: 'system-cluster-critical',
      serviceAccountName: name,
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: agent.tolerations,
      ...(onHost && { hostNetwork: true, dnsPolicy }),
      containers: [container(agent, input)],
      volumes: [
        {
          name: tokenVolume,
          projected: {
            sources: [
              { serviceAccountToken: { audience: konnectivityUser, expirationSeconds: 3600, path: tokenVolume } },
            ],
          },
        },
      ],
    },
  };
}

function workload(agent: Agent, input: AgentInput): Manifest {
  const many = agent.mode === 'Deployment' && agent.replicas !== undefined;
  return {
    apiVersion: 'apps/v1',
    kind: agent.mode,
    metadata: { name, namespace, labels: { ...projectLabels, ...selector } },
    spec: {
      ...(many && { replicas: agent.replicas }),
      selector: { matchLabels: selector },
      template: template(agent, input),
    },
  };
}

/** The objects that make the nodes of a tenant reachable through the tunnel; none without the add-on. */
export function konnectivityAgentManifests(tcp: TenantControlPlane, input: AgentInput): readonly Manifest[] {
  const agent = tcp.spec.addons.konnectivity?.agent;
  if (agent === undefined) return [];
  const binding = clusterRoleBinding(konnectivityUser, 'system:auth-delegator', {
    kind: 'User',
    name: konnectivityUser,
  });
  return [
    withLabels(
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels: projectLabels } },
      addonLabels,
    ),
    withLabels(binding, addonLabels),
    workload(agent, input),
  ];
}
