import type { KubernetesClient, PlainObject } from '../cluster/kubernetes-client.ts';
import { selfSignedCertificate } from '../cluster/self-signed-certificate.ts';
import type { Worker } from '../cluster/worker.ts';
import { imageArchives } from '../tools/images.ts';
import { sampleApiServerArchive } from '../tools/sample-api-server-image.ts';
import { logStep } from './log.ts';

const namespace = 'wardle';
const [group, version] = ['wardle.example.com', 'v1alpha1'] as const;
const files = '/etc/wardle';
const metadata = { name: 'wardle', namespace };
const labels = { app: 'wardle' };

/** The path under which a control plane hands calls on to {@link runAggregatedApi}'s server. */
export const aggregatedApiPath = `/apis/${group}/${version}`;

/** The name of its registration. */
export const aggregatedApiService = `${version}.${group}`;

/**
 * Runs Kubernetes' sample of an API server as a pod of a tenant, on this worker, with an etcd of its own, and registers it: the tenant's
 * kube-apiserver hands calls of its group on to it. Resolves when the pod is Ready.
 */
export async function runAggregatedApi(tenant: KubernetesClient, worker: Worker): Promise<void> {
  const progress = (line: string): void => {
    logStep('images', line);
  };
  const [server, archives] = [await sampleApiServerArchive(progress), await imageArchives({ progress })];
  const etcd = archives.find(({ name }) => name.includes('/etcd:'));
  if (etcd === undefined) throw new Error('no image of etcd is made');
  await worker.machine.importImage(server.path);
  const { certificate, privateKey } = await selfSignedCertificate([`wardle.${namespace}.svc`]);
  await tenant.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...access,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata,
      data: { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 443 }] } },
    pod(worker.name, server.name, etcd.name),
  ]);
  await tenant.waitFor({ apiVersion: 'v1', kind: 'Pod', ...metadata }, 'Ready', {
    timeoutMs: 90_000,
    diagnose: () => worker.machine.lastWords(),
  });
  await tenant.apply([
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: aggregatedApiService },
      spec: {
        group,
        version,
        groupPriorityMinimum: 2000,
        versionPriority: 200,
        service: metadata,
        caBundle: base64(certificate),
      },
    },
  ]);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** It asks the tenant who its callers are, what they may, and for namespaces and webhooks. What it may is not what is looked at. */
const access: readonly PlainObject[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'wardle' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  },
];

const pod = (nodeName: string, server: string, etcd: string): PlainObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, labels },
  spec: {
    nodeName,
    serviceAccountName: metadata.name,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'server',
        image: server,
        imagePullPolicy: 'IfNotPresent',
        args: [
          '--etcd-servers=http://127.0.0.1:2379',
          `--tls-cert-file=${files}/tls.crt`,
          `--tls-private-key-file=${files}/tls.key`,
        ],
        volumeMounts: [{ name: 'files', mountPath: files }],
        readinessProbe: { httpGet: { port: 443, path: '/readyz', scheme: 'HTTPS' }, periodSeconds: 1 },
      },
      { name: 'etcd', image: etcd, imagePullPolicy: 'IfNotPresent', command: ['etcd', '--data-dir=/tmp/etcd'] },
    ],
    volumes: [{ name: 'files', secret: { secretName: metadata.name } }],
  },
});
