import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { KubeadmFiles } from './kubeadm-files.ts';

/** What the bare control plane depends on. */
export interface BareInput {
  readonly name: string;
  readonly namespace: string;
  readonly replicas: number;
  /** For example `v1.36.3`. */
  readonly version: string;
  readonly clusterIp: string;
  readonly port: number;
  readonly files: KubeadmFiles;
  readonly etcd: {
    /** As kube-apiserver takes them. */
    readonly servers: string;
    readonly prefix: string;
    /** Values of the Secret, base64: `ca.crt`, `server.crt`, `server.key`. */
    readonly credentials: Readonly<Record<string, string>>;
  };
}

/** The Secrets that the pods of {@link barePods} mount. */
export function bareSecrets({ name, namespace, port, files, etcd }: BareInput): readonly PlainObject[] {
  const secret = (suffix: string, data: Readonly<Record<string, string>>): PlainObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-${suffix}`, namespace },
    data: { ...data },
  });
  const local = (kubeconfig = ''): string => kubeconfig.replace(/server: \S+/, `server: https://127.0.0.1:${port}`);
  const { 'controller-manager.conf': manager, 'scheduler.conf': scheduler } = files.kubeconfigs;
  return [
    secret('pki', encoded(files.pki)),
    secret('kubeconfigs', encoded({ 'controller-manager.conf': local(manager), 'scheduler.conf': local(scheduler) })),
    secret('etcd', etcd.credentials),
  ];
}

/** The Service and the Deployment of a control plane with the fewest flags that kube-apiserver works with. */
export function barePods(input: BareInput): readonly [service: PlainObject, deployment: PlainObject] {
  const { name, namespace, port, clusterIp, replicas } = input;
  const selector = { app: name };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { clusterIP: clusterIp, selector, ports: [{ port, targetPort: port }] },
  };
  const volume = (suffix: string) => ({ name: suffix, secret: { secretName: `${name}-${suffix}` } });
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          containers: bareContainers(input),
          volumes: [volume('pki'), volume('kubeconfigs'), volume('etcd')],
        },
      },
    },
  };
  return [service, deployment];
}

function bareContainers({ version, port, etcd }: BareInput): readonly Readonly<Record<string, unknown>>[] {
  const pki = '/pki';
  const program = (
    name: string,
    probedPort: number,
    paths: readonly [startup: string, ready: string],
    args: readonly string[],
  ) => {
    const probe = (path: string) => ({ httpGet: { path, port: probedPort, scheme: 'HTTPS' }, periodSeconds: 1 });
    return {
      name,
      image: `registry.k8s.io/${name}:${version}`,
      imagePullPolicy: 'IfNotPresent',
      command: [name, ...args],
      startupProbe: { ...probe(paths[0]), failureThreshold: 120 },
      readinessProbe: probe(paths[1]),
      volumeMounts: ['pki', 'kubeconfigs', 'etcd'].map((volume) => ({ name: volume, mountPath: `/${volume}` })),
    };
  };
  return [
    program(
      'kube-apiserver',
      port,
      ['/livez', '/readyz'],
      [
        `--etcd-servers=${etcd.servers}`,
        `--etcd-prefix=${etcd.prefix}`,
        '--etcd-cafile=/etcd/ca.crt',
        '--etcd-certfile=/etcd/server.crt',
        '--etcd-keyfile=/etcd/server.key',
        '--authorization-mode=Node,RBAC',
        `--client-ca-file=${pki}/ca.crt`,
        `--secure-port=${port}`,
        '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
        `--service-account-key-file=${pki}/sa.pub`,
        `--service-account-signing-key-file=${pki}/sa.key`,
        '--service-cluster-ip-range=10.96.0.0/16',
        `--tls-cert-file=${pki}/apiserver.crt`,
        `--tls-private-key-file=${pki}/apiserver.key`,
      ],
    ),
    program(
      'kube-controller-manager',
      10257,
      ['/healthz', '/healthz'],
      [
        '--kubeconfig=/kubeconfigs/controller-manager.conf',
        `--service-account-private-key-file=${pki}/sa.key`,
        `--root-ca-file=${pki}/ca.crt`,
        '--use-service-account-credentials=true',
      ],
    ),
    program('kube-scheduler', 10259, ['/healthz', '/healthz'], ['--kubeconfig=/kubeconfigs/scheduler.conf']),
  ];
}

function encoded(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
}
