import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import type { Dialect } from './dialect.ts';

/** A control plane on etcd, as far as its Deployment depends on it. */
export interface DeployedPlane {
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly address: string;
  readonly replicas: number;
  readonly schema: string;
  readonly endpoints: readonly string[];
  readonly services: string;
  readonly pods: string;
}

const pki = '/etc/kubernetes/pki';

/** `--name=value`, sorted, as both managers write arguments. */
function argumentsOf(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values)
    .map(([name, value]) => `--${name}=${value}`)
    .toSorted();
}

const probe = (path: string, port: number): object => ({
  httpGet: { path, port, scheme: 'HTTPS' },
  ...{ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
});

function apiServer(plane: DeployedPlane): object {
  const { version, address, schema, endpoints, services } = plane;
  return {
    name: 'kube-apiserver',
    image: `registry.k8s.io/kube-apiserver:${version}`,
    // Both managers say Always here. The machines of the tests have the image, and no registry.
    imagePullPolicy: 'IfNotPresent',
    command: ['kube-apiserver'],
    args: argumentsOf({
      'advertise-address': address,
      'allow-privileged': 'true',
      'authorization-mode': 'Node,RBAC',
      'client-ca-file': `${pki}/ca.crt`,
      'enable-admission-plugins':
        'CertificateApproval,CertificateSigning,CertificateSubjectRestriction,DefaultIngressClass,DefaultStorageClass,DefaultTolerationSeconds,LimitRanger,MutatingAdmissionWebhook,NamespaceLifecycle,PersistentVolumeClaimResize,Priority,ResourceQuota,RuntimeClass,ServiceAccount,StorageObjectInUseProtection,TaintNodesByCondition,ValidatingAdmissionWebhook',
      'enable-bootstrap-token-auth': 'true',
      'service-cluster-ip-range': services,
      'kubelet-client-certificate': `${pki}/apiserver-kubelet-client.crt`,
      'kubelet-client-key': `${pki}/apiserver-kubelet-client.key`,
      'kubelet-preferred-address-types': 'InternalIP',
      'proxy-client-cert-file': `${pki}/front-proxy-client.crt`,
      'proxy-client-key-file': `${pki}/front-proxy-client.key`,
      'requestheader-allowed-names': 'front-proxy-client',
      'requestheader-client-ca-file': `${pki}/front-proxy-ca.crt`,
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-username-headers': 'X-Remote-User',
      'secure-port': '6443',
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': `${pki}/sa.pub`,
      'service-account-signing-key-file': `${pki}/sa.key`,
      'tls-cert-file': `${pki}/apiserver.crt`,
      'tls-private-key-file': `${pki}/apiserver.key`,
      'etcd-servers': endpoints.map((endpoint) => `https://${endpoint}`).join(','),
      'etcd-prefix': `/${schema}`,
      'etcd-compaction-interval': '0',
      'etcd-cafile': `${pki}/etcd/ca.crt`,
      'etcd-certfile': `${pki}/etcd/server.crt`,
      'etcd-keyfile': `${pki}/etcd/server.key`,
    }),
    livenessProbe: probe('/livez', 6443),
    readinessProbe: probe('/readyz', 6443),
    startupProbe: probe('/livez', 6443),
    volumeMounts: [
      { name: 'etc-kubernetes-pki', mountPath: pki, readOnly: true },
      ...caFolders.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
    ],
  };
}

const caFolders = [
  { name: 'etc-ca-certificates', mountPath: '/etc/ca-certificates' },
  { name: 'usr-share-ca-certificates', mountPath: '/usr/share/ca-certificates' },
  { name: 'usr-local-share-ca-certificates', mountPath: '/usr/local/share/ca-certificates' },
] as const;

function scheduler({ version }: DeployedPlane, { probesAll }: Dialect): object {
  const conf = '/etc/kubernetes/scheduler.conf';
  return {
    name: 'kube-scheduler',
    image: `registry.k8s.io/kube-scheduler:${version}`,
    command: ['kube-scheduler'],
    args: argumentsOf({
      ...{ 'authentication-kubeconfig': conf, 'authorization-kubeconfig': conf, kubeconfig: conf },
      ...{ 'bind-address': '0.0.0.0', 'leader-elect': 'true' },
    }),
    livenessProbe: probe('/healthz', 10259),
    ...(probesAll && { readinessProbe: probe('/healthz', 10259) }),
    startupProbe: probe('/healthz', 10259),
    volumeMounts: [{ name: 'scheduler-kubeconfig', mountPath: '/etc/kubernetes', readOnly: true }],
  };
}

function controllerManager({ name, version, services, pods }: DeployedPlane, { probesAll }: Dialect): object {
  const conf = '/etc/kubernetes/controller-manager.conf';
  return {
    name: 'kube-controller-manager',
    image: `registry.k8s.io/kube-controller-manager:${version}`,
    command: ['kube-controller-manager'],
    args: argumentsOf({
      'allocate-node-cidrs': 'true',
      ...{ 'authentication-kubeconfig': conf, 'authorization-kubeconfig': conf, kubeconfig: conf },
      'bind-address': '0.0.0.0',
      'client-ca-file': `${pki}/ca.crt`,
      'cluster-name': name,
      'cluster-signing-cert-file': `${pki}/ca.crt`,
      'cluster-signing-key-file': `${pki}/ca.key`,
      controllers: '*,bootstrapsigner,tokencleaner',
      'leader-elect': 'true',
      'service-cluster-ip-range': services,
      'cluster-cidr': pods,
      'requestheader-client-ca-file': `${pki}/front-proxy-ca.crt`,
      'root-ca-file': `${pki}/ca.crt`,
      'service-account-private-key-file': `${pki}/sa.key`,
      'use-service-account-credentials': 'true',
    }),
    livenessProbe: probe('/healthz', 10257),
    ...(probesAll && { readinessProbe: probe('/healthz', 10257) }),
    startupProbe: probe('/healthz', 10257),
    volumeMounts: [
      { name: 'controller-manager-kubeconfig', mountPath: '/etc/kubernetes', readOnly: true },
      { name: 'etc-kubernetes-pki', mountPath: pki, readOnly: true },
      ...caFolders.map(({ name: folder, mountPath }) => ({ name: folder, mountPath, readOnly: true })),
    ],
  };
}

function volumes(name: string): readonly object[] {
  const items = (secret: string, ...keys: readonly string[]): object => ({
    secret: { name: `${name}-${secret}`, items: keys.map((key) => ({ key, path: key })) },
  });
  const etcd = ['ca.crt', 'server.crt', 'server.key'].map((key) => ({ key, path: `etcd/${key}` }));
  const defaultMode = 0o644;
  return [
    {
      name: 'etc-kubernetes-pki',
      projected: {
        defaultMode,
        sources: [
          items('api-server-certificate', 'apiserver.crt', 'apiserver.key'),
          items('ca', 'ca.crt', 'ca.key'),
          items(
            'api-server-kubelet-client-certificate',
            'apiserver-kubelet-client.crt',
            'apiserver-kubelet-client.key',
          ),
          items('front-proxy-ca-certificate', 'front-proxy-ca.crt', 'front-proxy-ca.key'),
          items('front-proxy-client-certificate', 'front-proxy-client.crt', 'front-proxy-client.key'),
          items('sa-certificate', 'sa.pub', 'sa.key'),
          { secret: { name: `${name}-datastore-certificate`, items: etcd } },
        ],
      },
    },
    ...caFolders.map((folder) => ({ name: folder.name, secret: { secretName: `${name}-ca`, defaultMode } })),
    { name: 'scheduler-kubeconfig', secret: { secretName: `${name}-scheduler-kubeconfig`, defaultMode } },
    {
      name: 'controller-manager-kubeconfig',
      secret: { secretName: `${name}-controller-manager-kubeconfig`, defaultMode },
    },
  ];
}

/** The Deployment of a control plane, as Kamaji and the Go Steward write it. */
export function controlPlaneDeployment(plane: DeployedPlane, dialect: Dialect, owner: object): PlainObject {
  const { namespace, name, replicas } = plane;
  const { domain, project } = dialect;
  const own = { [`${domain}/name`]: name };
  const component = { [`${domain}/component`]: 'deployment' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...{ namespace, name, labels: { ...own, ...component, [`${domain}/project`]: project } },
      ...{ ownerReferences: [owner] as never },
    },
    spec: {
      replicas,
      selector: { matchLabels: own },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' } },
      template: {
        metadata: {
          labels: { ...own, ...component, [`component.${domain}/datastore`]: 'default' },
          annotations: { [`storage.${domain}/config`]: 'checksum' },
        },
        spec: {
          serviceAccountName: 'default',
          containers: [apiServer(plane), scheduler(plane, dialect), controllerManager(plane, dialect)],
          volumes: volumes(name),
        },
      },
    },
  };
}
