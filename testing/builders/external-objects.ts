import { stringify } from 'yaml';
import { capiGroup } from '../../api/cluster-api/names.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { Manifest } from '../../api/meta.ts';
import { strippedSpec } from './stripped-field.ts';

/** The objects of a control plane that another cluster hosts, named as in the tests of that. */
export const externalKey = { namespace: 'fleet', name: 'blue' } as const;

/** The namespace in the other cluster. */
export const hostingNamespace = 'hosted';

/** How the user of a kubeconfig is known: by a token, or by a certificate. PEM is in clear text. */
export type Credentials = { readonly token: string } | { readonly certificate: string; readonly key: string };

/** A kubeconfig for `server`; `user` adds fields to its user. */
export function kubeconfigFor(
  server: string,
  { ca, credentials, user = {} }: { readonly ca?: string; readonly credentials: Credentials; readonly user?: object },
): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const known =
    'token' in credentials
      ? credentials
      : {
          'client-certificate-data': base64(credentials.certificate),
          'client-key-data': base64(credentials.key),
        };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'there',
    contexts: [{ name: 'there', context: { cluster: 'there', user: 'steward' } }],
    clusters: [
      { name: 'there', cluster: { server, ...(ca === undefined ? {} : { 'certificate-authority-data': base64(ca) }) } },
    ],
    users: [{ name: 'steward', user: { ...known, ...user } }],
  });
}

/** The Secret with a kubeconfig. */
export function kubeconfigSecret(kubeconfig: string, metadata: object = {}): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: externalKey.namespace, name: 'hosting', ...metadata },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  };
}

/** The Cluster without infrastructure whose control plane it is. */
export function externalCluster(spec: object = {}): Manifest {
  return {
    apiVersion: `${capiGroup}/v1beta2`,
    kind: 'Cluster',
    metadata: externalKey,
    spec: {
      controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: externalKey.name },
      ...spec,
    },
  };
}

/** A StewardControlPlane whose control plane another cluster hosts. */
export function externalControlPlane(metadata: object = {}, reference: object | null = {}): Manifest {
  const deployment = {
    externalClusterReference: {
      kubeconfigSecretName: 'hosting',
      kubeconfigSecretKey: 'kubeconfig',
      deploymentNamespace: hostingNamespace,
      ...reference,
    },
  };
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: {
      ...externalKey,
      labels: { 'cluster.x-k8s.io/cluster-name': externalKey.name },
      ownerReferences: [
        { apiVersion: `${capiGroup}/v1beta2`, kind: 'Cluster', name: externalKey.name, uid: 'cluster' },
      ],
      ...metadata,
    },
    spec: strippedSpec({
      version: 'v1.36.3',
      replicas: 2,
      network: { serviceType: 'LoadBalancer' },
      ...(reference === null ? {} : { deployment }),
    }),
  };
}

/** What a TenantControlPlane of that name says once it serves. */
export function servingStatus(name: string): object {
  return {
    // As a visit to any spec of a test writes it.
    observedGeneration: 100,
    controlPlaneEndpoint: '192.0.2.7:6443',
    kubeconfig: { admin: { secretName: `${name}-admin-kubeconfig` } },
    certificates: { ca: { secretName: `${name}-ca` } },
    conditions: [
      {
        type: 'TenantConfigured',
        status: 'True',
        reason: 'Succeeded',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
    kubernetesResources: {
      version: { version: 'v1.36.3', status: 'Ready' },
      deployment: {
        selector: 'a=b',
        name,
        namespace: hostingNamespace,
        replicas: 2,
        readyReplicas: 2,
        availableReplicas: 2,
        updatedReplicas: 2,
      },
    },
  };
}

/** The Secrets that such a TenantControlPlane has made. */
export function servingSecrets(name: string, content = 'kubeconfig-of-the-tenant'): readonly Manifest[] {
  const secret = (suffix: string, data: Readonly<Record<string, string>>): Manifest => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: hostingNamespace, name: `${name}-${suffix}` },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  });
  return [
    secret('admin-kubeconfig', { 'admin.conf': content }),
    secret('ca', { 'ca.crt': 'certificate', 'ca.key': 'key' }),
  ];
}
