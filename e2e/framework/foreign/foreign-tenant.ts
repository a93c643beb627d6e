import { createHash } from 'node:crypto';

import { stringify } from 'yaml';

import { KubernetesClient } from '../../cluster/kubernetes-client.ts';
import type { ObjectAddress, PlainObject } from '../../cluster/kubernetes-client.ts';
import { machineKubeletConfiguration } from '../../cluster/kubeadm-documents.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { machineKubelet } from '../workers/tenant-worker.ts';
import { controlPlaneDeployment } from './control-plane-deployment.ts';
import type { Dialect } from './dialect.ts';
import { etcdTenancy } from './etcd-tenancy.ts';
import type { EtcdTenancy } from './etcd-tenancy.ts';
import { kubeadmFiles } from './kubeadm-files.ts';
import type { KubeadmFiles } from './kubeadm-files.ts';

/** A tenant that another manager than ours made. */
export interface ForeignTenant {
  readonly namespace: string;
  readonly name: string;
  readonly endpoint: string;
  readonly schema: string;
  /** Certificate of its CA, PEM. */
  readonly ca: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Lower-case MD5 of the values in the order of their keys: the checksum of both managers. */
function checksum(data: Readonly<Record<string, string>>): string {
  const hash = createHash('md5');
  for (const key of Object.keys(data).toSorted()) hash.update(data[key] ?? '');
  return hash.digest('hex');
}

/** The Secrets by the end of their names: component label, lifecycle label and content. */
function secretsOf(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { pki, kubeconfigs }: KubeadmFiles,
  { schema, tenancy }: { readonly schema: string; readonly tenancy: EtcdTenancy },
): readonly (readonly [suffix: string, lifecycle: string | undefined, data: Readonly<Record<string, string>>])[] {
  const file = (key: string): string => pki[key] ?? '';
  const pair = (of: string): Record<string, string> => ({
    [`${of}.crt`]: file(`${of}.crt`),
    [`${of}.key`]: file(`${of}.key`),
  });
  const conf = (of: string): string => kubeconfigs[`${of}.conf`] ?? '';
  const at = (text: string, server: string): string => text.replace(/server: .*/, `server: ${server}`);
  const service = `https://${name}.${namespace}.svc:6443`;
  const local = 'https://127.0.0.1:6443';
  const authority = pair('ca');
  return [
    ['ca', undefined, { ...authority, 'tls.crt': file('ca.crt'), 'tls.key': file('ca.key') }],
    ['front-proxy-ca-certificate', undefined, pair('front-proxy-ca')],
    ['sa-certificate', undefined, { 'sa.pub': file('sa.pub'), 'sa.key': file('sa.key') }],
    ['api-server-certificate', 'x509', pair('apiserver')],
    ['api-server-kubelet-client-certificate', 'x509', pair('apiserver-kubelet-client')],
    ['front-proxy-client-certificate', 'x509', pair('front-proxy-client')],
    [
      'admin-kubeconfig',
      'kubeconfig',
      {
        'admin.conf': conf('admin'),
        'admin.svc': at(conf('admin'), service),
        'super-admin.conf': conf('super-admin'),
        'super-admin.svc': at(conf('super-admin'), service),
      },
    ],
    [
      'controller-manager-kubeconfig',
      'kubeconfig',
      { 'controller-manager.conf': at(conf('controller-manager'), local) },
    ],
    ['scheduler-kubeconfig', 'kubeconfig', { 'scheduler.conf': at(conf('scheduler'), local) }],
    ['datastore-config', undefined, { DB_CONNECTION_STRING: '', DB_SCHEMA: schema, DB_USER: schema, DB_PASSWORD: '' }],
    [
      'datastore-certificate',
      'x509',
      { 'ca.crt': tenancy.ca, 'server.crt': tenancy.certificate, 'server.key': tenancy.key },
    ],
  ];
}

/**
 * Makes a running control plane with two pods on the quick-start etcd as Kamaji or the Go Steward leaves it: names, labels, keys, flags and
 * status are those that their sources and documentation describe, certificates and documents those of kubeadm. No code of ours makes any
 * of it.
 */
export async function foreignTenant(
  cluster: ManagementCluster,
  dialect: Dialect,
  of: { readonly namespace: string; readonly name: string; readonly version: string },
): Promise<ForeignTenant> {
  const { namespace, name, version } = of;
  const { domain, project } = dialect;
  const { client, network } = cluster;
  const schema = `${namespace}_${name}`.replaceAll('-', '_');
  const labels = (component: string): Record<string, string> => ({
    [`${domain}/project`]: project,
    [`${domain}/name`]: name,
    [`${domain}/component`]: component,
  });
  const address: ObjectAddress = { apiVersion: `${domain}/v1alpha1`, kind: 'TenantControlPlane', namespace, name };
  await client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  const [made] = await client.apply([
    {
      ...{ apiVersion: address.apiVersion, kind: address.kind },
      metadata: { namespace, name, finalizers: [`finalizer.${domain}`, `finalizer.${domain}/soot`] },
      spec: {
        ...{ dataStore: 'default', dataStoreSchema: schema, dataStoreUsername: schema },
        controlPlane: { deployment: { replicas: 2 }, service: { serviceType: 'ClusterIP' } },
        kubernetes: { version, kubelet: machineKubelet },
        networkProfile: { port: 6443, serviceCidr: network.services, podCidr: network.pods },
        addons: {},
      },
    },
  ]);
  const owner = {
    ...{ apiVersion: address.apiVersion, kind: address.kind, name, uid: made?.metadata?.uid ?? '' },
    ...{ controller: true, blockOwnerDeletion: true },
  };
  const owned = (own: string, component: string): PlainObject['metadata'] => ({
    ...{ namespace, name: own, labels: labels(component), ownerReferences: [owner] },
  });
  const [service] = await client.apply([
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: owned(name, 'service') },
      spec: {
        type: 'ClusterIP',
        selector: { [`${domain}/name`]: name },
        ports: [{ name: 'kube-apiserver', protocol: 'TCP', port: 6443, targetPort: 6443 }],
      },
    },
  ]);
  const ip = String(service?.spec?.clusterIP);
  const files = await kubeadmFiles(cluster, { namespace, name, version, address: ip });
  const tenancy = await etcdTenancy(cluster, schema);
  const secrets = secretsOf(of, files, { schema, tenancy }).map(([suffix, lifecycle, data]): PlainObject => {
    const metadata = owned(`${name}-${suffix}`, suffix) ?? {};
    const marks = {
      ...metadata.labels,
      ...(lifecycle !== undefined && { [`${domain}/certificate_lifecycle_controller`]: lifecycle }),
    };
    const finalizers = suffix === 'datastore-config' ? [`finalizer.${domain}/datastore-secret`] : [];
    const annotations = { [`${domain}/checksum`]: checksum(data) };
    const values = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)]));
    return {
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: values },
      metadata: { ...metadata, labels: marks, annotations, finalizers },
    };
  });
  await client.apply(secrets);
  const ranges = { services: network.services, pods: network.pods };
  const plane = { namespace, name, version, address: ip, replicas: 2, schema, endpoints: tenancy.endpoints, ...ranges };
  await client.apply([controlPlaneDeployment(plane, dialect, owner)]);
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name };
  await cluster.waitFor(deployment, (object) => object?.status?.readyReplicas === 2, {
    timeoutMs: 240_000,
    what: 'two ready pods',
    diagnose: () => cluster.diagnose(namespace),
  });
  await configureTenant(new KubernetesClient(files.kubeconfigs['super-admin.conf'] ?? ''), files);
  await client.merge(address, { status: statusOf(plane, secrets) }, 'status');
  return { namespace, name, endpoint: `${ip}:6443`, schema, ca: files.pki['ca.crt'] ?? '' };
}

/** What both managers put inside a tenant: what kubeadm puts there, and the right of its administrators. */
async function configureTenant(tenant: KubernetesClient, { phase }: KubeadmFiles): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io';
  const group = (name: string): object => ({ apiGroup: rbac, kind: 'Group', name });
  const kubelet = {
    ...machineKubeletConfiguration(2),
    failCgroupV1: false,
    authentication: { x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' } },
    clusterDomain: 'cluster.local',
    rotateCertificates: true,
    staticPodPath: '/etc/kubernetes/manifests',
  };
  await tenant.apply([
    {
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'kubeadm:cluster-admins' } },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [group('kubeadm:cluster-admins')],
    },
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kubelet-config', namespace: 'kube-system' } },
      data: { kubelet: stringify(kubelet) },
    },
    {
      ...{
        apiVersion: `${rbac}/v1`,
        kind: 'Role',
        metadata: { name: 'kubeadm:kubelet-config', namespace: 'kube-system' },
      },
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['kubelet-config'], verbs: ['get'] }],
    },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding' },
      metadata: { name: 'kubeadm:kubelet-config', namespace: 'kube-system' },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'kubeadm:kubelet-config' },
      subjects: [group('system:nodes'), group('system:bootstrappers:kubeadm:default-node-token')],
    },
  ]);
  await phase('upload-config', 'kubeadm');
  await phase('bootstrap-token');
  await tenant.connection.close();
}

function statusOf(
  { namespace, name, version, address, replicas, schema }: Parameters<typeof controlPlaneDeployment>[0],
  secrets: readonly PlainObject[],
): object {
  const lastUpdate = '2026-01-01T00:00:00Z';
  const of = (suffix: string): object => {
    const secretName = `${name}-${suffix}`;
    const found = secrets.find(({ metadata }) => metadata?.name === secretName);
    const [sum] = Object.entries(found?.metadata?.annotations ?? {}).flatMap(([key, value]) =>
      key.endsWith('/checksum') ? [value] : [],
    );
    return { secretName, checksum: sum, lastUpdate };
  };
  const { secretName, checksum: sum } = of('datastore-config') as { secretName: string; checksum: string };
  return {
    controlPlaneEndpoint: `${address}:6443`,
    storage: {
      ...{ driver: 'etcd', dataStoreName: 'default' },
      config: { secretName, checksum: sum },
      setup: { schema, user: schema, lastUpdate, checksum: sum },
      certificate: of('datastore-certificate'),
    },
    certificates: {
      ca: of('ca'),
      apiServer: of('api-server-certificate'),
      apiServerKubeletClient: of('api-server-kubelet-client-certificate'),
      frontProxyCA: of('front-proxy-ca-certificate'),
      frontProxyClient: of('front-proxy-client-certificate'),
      sa: of('sa-certificate'),
    },
    kubeconfig: {
      admin: of('admin-kubeconfig'),
      controllerManager: of('controller-manager-kubeconfig'),
      scheduler: of('scheduler-kubeconfig'),
    },
    kubernetesResources: {
      version: { version, status: 'Ready' },
      deployment: {
        ...{ namespace, name, selector: 'name', lastUpdate },
        ...{ replicas, readyReplicas: replicas, updatedReplicas: replicas, availableReplicas: replicas },
      },
      service: { namespace, name, port: 6443 },
    },
  };
}
