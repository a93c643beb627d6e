import type { Manifest } from '../api/meta.ts';
import type { AddonPod } from './addon-pod.ts';
import { coreDnsImage } from './images.ts';
import type { ImageOverride } from './images.ts';
import { projectLabels } from './manifest-labels.ts';
import { dnsServiceIps } from './networks.ts';
import { clusterRole, clusterRoleBinding } from './rbac.ts';
import type { KubernetesVersion } from './versions.ts';

/** The inputs of CoreDNS in a tenant. */
export interface CoreDnsInputs {
  readonly version: KubernetesVersion;
  readonly clusterDomain: string;
  readonly serviceCidr: string;
  /** Empty or absent: the tenth address of the service network. */
  readonly dnsServiceIPs?: readonly string[];
  readonly image?: ImageOverride;
  readonly pod?: AddonPod;
}

/** The objects of the add-on, by who may change them. */
export interface CoreDnsManifests {
  /** Objects that are kept as they are here. */
  readonly managed: readonly Manifest[];
  /** Created once: the Corefile belongs to the tenant's administrators afterwards. */
  readonly createOnly: readonly Manifest[];
}

const name = 'coredns';
const namespace = 'kube-system';
const selector = { 'k8s-app': 'kube-dns' };
const labels = { ...projectLabels, ...selector };

/** From 1.32 on, answers for the cluster's own domain are not cached: they would outlive their Services and Pods. */
function corefile({ version, clusterDomain }: CoreDnsInputs): string {
  const cache =
    version.minor >= 32
      ? `cache 30 {\n       disable success ${clusterDomain}\n       disable denial ${clusterDomain}\n    }`
      : 'cache 30';
  return `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes ${clusterDomain} in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    ${cache}
    loop
    reload
    loadbalance
}
`;
}

function configMap(inputs: CoreDnsInputs): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: projectLabels },
    data: { Corefile: corefile(inputs) },
  };
}

function container({ version, image, pod = {} }: CoreDnsInputs): Record<string, unknown> {
  const namedProbes = version.minor >= 34;
  const port = (portName: string, containerPort: number, protocol = 'TCP'): Record<string, unknown> => ({
    name: portName,
    containerPort,
    protocol,
  });
  return {
    name,
    image: coreDnsImage(version, image),
    imagePullPolicy: 'IfNotPresent',
    resources: pod.resources ?? { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
    args: ['-conf', '/etc/coredns/Corefile', ...(pod.extraArgs ?? [])],
    volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
    ports: [
      port('dns', 53, 'UDP'),
      port('dns-tcp', 53),
      port('metrics', 9153),
      ...(namedProbes ? [port('liveness-probe', 8080), port('readiness-probe', 8181)] : []),
    ],
    livenessProbe: {
      httpGet: { path: '/health', port: namedProbes ? 'liveness-probe' : 8080, scheme: 'HTTP' },
      initialDelaySeconds: 60,
      timeoutSeconds: 5,
      successThreshold: 1,
      failureThreshold: 5,
    },
    readinessProbe: { httpGet: { path: '/ready', port: namedProbes ? 'readiness-probe' : 8181, scheme: 'HTTP' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
  };
}

const spreadOverNodes = {
  weight: 100,
  podAffinityTerm: {
    labelSelector: { matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns'] }] },
    topologyKey: 'kubernetes.io/hostname',
  },
};

function deployment(inputs: CoreDnsInputs): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          priorityClassName: 'system-cluster-critical',
          serviceAccountName: name,
          affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [spreadOverNodes] } },
          tolerations: inputs.pod?.tolerations ?? [
            { key: 'CriticalAddonsOnly', operator: 'Exists' },
            { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
          ],
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          containers: [container(inputs)],
          dnsPolicy: 'Default',
          volumes: [{ name: 'config-volume', configMap: { name, items: [{ key: 'Corefile', path: 'Corefile' }] } }],
        },
      },
    },
  };
}

function service(inputs: CoreDnsInputs): Manifest {
  const [clusterIP, ...others] = dnsServiceIps(inputs.serviceCidr, inputs.dnsServiceIPs);
  const both = others.length === 0 ? {} : { clusterIPs: [clusterIP, ...others], ipFamilyPolicy: 'RequireDualStack' };
  const port = (portName: string, number: number, protocol = 'TCP'): Record<string, unknown> => ({
    name: portName,
    port: number,
    protocol,
    targetPort: number,
  });
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kube-dns',
      namespace,
      labels: { ...labels, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
      annotations: { 'prometheus.io/port': '9153', 'prometheus.io/scrape': 'true' },
    },
    spec: {
      clusterIP,
      ...both,
      ports: [port('dns', 53, 'UDP'), port('dns-tcp', 53), port('metrics', 9153)],
      selector,
    },
  };
}

/**
 * The CoreDNS add-on as kubeadm of the tenant's minor installs it. Throws `InvalidInputError` for invalid networks or DNS
 * addresses.
 */
export function coreDns(inputs: CoreDnsInputs): CoreDnsManifests {
  const watch = ['list', 'watch'];
  return {
    managed: [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels: projectLabels } },
      clusterRole('system:coredns', [
        { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: watch },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: watch },
      ]),
      clusterRoleBinding('system:coredns', 'system:coredns', { kind: 'ServiceAccount', name, namespace }),
      deployment(inputs),
      service(inputs),
    ],
    createOnly: [configMap(inputs)],
  };
}
