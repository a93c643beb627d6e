import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { dataKeys } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { projectLabels } from '../../../../kubeadm/manifest-labels.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import { clusterRole, clusterRoleBinding } from '../../../../kubeadm/rbac.ts';
import type { ResourceRequirements } from '../../shared/pod-parts.ts';
import { restricted } from '../../shared/security-context.ts';
import { proxyTlsData } from './proxy-certificate.ts';
import type { ProxyTls } from './proxy-certificate.ts';
import { proxyName as name, proxyNamespace as namespace, proxyPort, proxyRole, proxyTlsSecret } from './proxy-names.ts';
import { upstreamText } from './proxy-upstream.ts';
import type { ProxyUpstream } from './proxy-upstream.ts';

/** What a proxy depends on beside the spec. */
export interface ProxyInput {
  readonly tcp: TenantControlPlane;
  readonly upstream: ProxyUpstream;
  /** Where the proxy ends TLS connections. */
  readonly tls: ProxyTls | undefined;
}

/** The kinds of the proxy's objects. */
export const proxyKinds: readonly KindRef[] = [
  kinds.ServiceAccount,
  kinds.ClusterRole,
  kinds.ClusterRoleBinding,
  kinds.Service,
  kinds.Deployment,
  kinds.Secret,
];

/** The proxy that runs unless `tcpProxy.image` names another. */
export const defaultProxyImage = 'ghcr.io/butlerdotdev/steward-tcp-proxy:v0.2.0';
const selector = { app: name };
const tlsFolder = '/etc/tcp-proxy/tls';
const tlsVolume = 'tls';

const defaultResources: ResourceRequirements = {
  requests: { cpu: '10m', memory: '32Mi' },
  limits: { cpu: '100m', memory: '64Mi' },
};

/**
 * The proxy tolerates nodes that are not ready: the network plugin and the cloud's controllers need it to reach the API server.
 */
const tolerations = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.cilium.io/agent-not-ready', operator: 'Exists' },
];

/** The proxy maintains the EndpointSlice of the Service `kubernetes`, which the API server leaves to it. */
const rules = [
  {
    apiGroups: ['discovery.k8s.io'],
    resources: ['endpointslices'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'],
  },
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];

function container({ tcp, upstream, tls }: ProxyInput): Readonly<Record<string, unknown>> {
  const { image = '', resources } = tcp.spec.addons.tcpProxy ?? {};
  const { certificate, key, authority } = dataKeys.tcpProxyCertificate;
  const probe = (initialDelaySeconds: number, timeoutSeconds: number, periodSeconds: number) => ({
    tcpSocket: { port: proxyPort },
    initialDelaySeconds,
    timeoutSeconds,
    periodSeconds,
  });
  return {
    name: 'tcp-proxy',
    image: image === '' ? defaultProxyImage : image,
    args: [
      `--upstream-addr=${upstreamText(upstream)}`,
      `--listen-addr=:${proxyPort}`,
      ...(tls === undefined
        ? []
        : [`--tls-cert-file=${tlsFolder}/${certificate}`, `--tls-key-file=${tlsFolder}/${key}`]),
    ],
    env: [
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      // The proxy must not reach the API server through itself.
      { name: 'KUBERNETES_SERVICE_HOST', value: upstream.host },
      { name: 'KUBERNETES_SERVICE_PORT', value: String(upstream.port) },
      // Go programs read the trusted CAs from this file (https://pkg.go.dev/crypto/x509#SystemCertPool).
      ...(tls === undefined ? [] : [{ name: 'SSL_CERT_FILE', value: `${tlsFolder}/${authority}` }]),
    ],
    ports: [{ name: 'proxy', containerPort: proxyPort, protocol: 'TCP' }],
    livenessProbe: probe(5, 5, 10),
    readinessProbe: probe(3, 3, 5),
    resources: resources ?? defaultResources,
    securityContext: restricted(),
    ...(tls !== undefined && { volumeMounts: [{ name: tlsVolume, mountPath: tlsFolder, readOnly: true }] }),
  };
}

function deployment(input: ProxyInput): Manifest {
  const { tcp, tls } = input;
  const { hostAliases = [] } = tcp.spec.addons.tcpProxy ?? {};
  // The program reads its certificate when it starts.
  const annotations = tls && { [`component.${name}/tls`]: checksum(proxyTlsData(tls)) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: { ...projectLabels, ...selector } },
    spec: {
      replicas: 2,
      selector: { matchLabels: selector },
      // A new pod gets the node's port only after the old pod has ended.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      template: {
        metadata: { labels: selector, annotations },
        spec: {
          serviceAccountName: name,
          priorityClassName: 'system-cluster-critical',
          hostNetwork: true,
          // The tenant's own DNS needs the Service that this proxy makes work.
          dnsPolicy: 'Default',
          ...(hostAliases.length > 0 && { hostAliases }),
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations,
          // A node's network has room for one proxy at this port.
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: selector },
            },
          ],
          containers: [container(input)],
          ...(tls !== undefined && {
            volumes: [{ name: tlsVolume, secret: { secretName: proxyTlsSecret, defaultMode: 0o444 } }],
          }),
        },
      },
    },
  };
}

function tlsSecret(tls: ProxyTls): Manifest {
  const data = Object.entries(proxyTlsData(tls)).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: proxyTlsSecret, namespace, labels: projectLabels },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(data) as Record<string, string>,
  };
}

/** A proxy inside the tenant through which its pods reach the API server at the Service `kubernetes`. */
export function proxyManifests(input: ProxyInput): readonly Manifest[] {
  const account = { kind: 'ServiceAccount', name, namespace } as const;
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels: projectLabels } },
    clusterRole(proxyRole, rules),
    clusterRoleBinding(proxyRole, proxyRole, account),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels: { ...projectLabels, ...selector } },
      spec: {
        type: 'ClusterIP',
        selector,
        ports: [{ name: 'proxy', protocol: 'TCP', port: proxyPort, targetPort: proxyPort }],
      },
    },
    ...(input.tls === undefined ? [] : [tlsSecret(input.tls)]),
    deployment(input),
  ];
}
