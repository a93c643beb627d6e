import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { infrastructureVersion } from '../../infrastructure/kinds.ts';
import { capiVersion } from '../cluster-api/cluster-stage.ts';
import { webContainer } from '../web-pod.ts';

const bootstrapVersion = 'bootstrap.cluster.x-k8s.io/v1beta2';
const groupOf = (apiVersion: string): string | undefined => apiVersion.split('/')[0];

/** How kubeadm joins a machine of the e2e infrastructure provider, with labels of its node. */
function joinSpec(labels = ''): Record<string, unknown> {
  const nodeRegistration = {
    criSocket: 'unix:///run/containerd/containerd.sock',
    imagePullPolicy: 'IfNotPresent',
    ignorePreflightErrors: ['SystemVerification'],
    ...(labels === '' ? {} : { kubeletExtraArgs: [{ name: 'node-labels', value: labels }] }),
  };
  return { joinConfiguration: { nodeRegistration } };
}

/** A KubeadmConfigTemplate whose nodes have these labels. */
export function bootstrapTemplate(name: string, labels: string): PlainObject {
  const metadata = { name, namespace: 'default' };
  return {
    apiVersion: bootstrapVersion,
    kind: 'KubeadmConfigTemplate',
    metadata,
    spec: { template: { spec: joinSpec(labels) } },
  };
}

/** A MachinePool of a Cluster, with its bootstrap configuration and its infrastructure. */
export function machinePool(cluster: string, name: string, version: string): readonly PlainObject[] {
  const metadata = { name, namespace: 'default' };
  return [
    { apiVersion: bootstrapVersion, kind: 'KubeadmConfig', metadata, spec: joinSpec() },
    { apiVersion: infrastructureVersion, kind: 'NetnsMachinePool', metadata, spec: {} },
    {
      apiVersion: capiVersion,
      kind: 'MachinePool',
      metadata,
      spec: {
        clusterName: cluster,
        replicas: 1,
        template: {
          spec: {
            clusterName: cluster,
            version,
            bootstrap: { configRef: { apiGroup: groupOf(bootstrapVersion), kind: 'KubeadmConfig', name } },
            infrastructureRef: { apiGroup: groupOf(infrastructureVersion), kind: 'NetnsMachinePool', name },
          },
        },
      },
    },
  ];
}

/** Replaces the Machines of a MachineDeployment whose nodes are not heard of for some seconds. */
export function healthCheck(cluster: string, deployment: string): PlainObject {
  return {
    apiVersion: capiVersion,
    kind: 'MachineHealthCheck',
    metadata: { name: deployment, namespace: 'default' },
    spec: {
      clusterName: cluster,
      selector: { matchLabels: { 'cluster.x-k8s.io/deployment-name': deployment } },
      checks: {
        nodeStartupTimeoutSeconds: 600,
        unhealthyNodeConditions: [
          { type: 'Ready', timeoutSeconds: 5, status: 'Unknown' },
          // A node that joins is not ready until its pod network is there.
          { type: 'Ready', timeoutSeconds: 60, status: 'False' },
        ],
      },
    },
  };
}

/** Two pods on nodes of this label that answer at port 8080, and the budget of how many of them must stay. */
export function guardedPods(name: string, nodes: Readonly<Record<string, string>>): readonly PlainObject[] {
  const metadata = { name, namespace: 'default' };
  const labels = { app: name };
  const apart = { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' };
  const affinity = {
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: apart }] },
  };
  const spec = {
    terminationGracePeriodSeconds: 1,
    nodeSelector: nodes,
    affinity,
    containers: [webContainer('server')],
  };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      // Pods of a node that is silent are not healthy, and do not hold its machine.
      spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: labels } },
    },
  ];
}
