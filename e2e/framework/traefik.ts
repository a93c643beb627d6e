import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { moduleFolder } from '../tools/module-folder.ts';
import { traefikArchive, traefikImage } from '../tools/traefik-image.ts';

const namespace = 'traefik';
const name = 'traefik';
const labels = { app: name };

/** The entry point of Ingresses and IngressRouteTCPs has this name in the usual installation of Traefik. */
const entryPoints = { websecure: 8443, 'kube-apiserver': 6443, konnectivity: 8132, traefik: 8080 } as const;

/** The class of Ingresses that it serves. */
export const ingressClass = 'nginx';

/** The class of Gateways that it serves. */
export const gatewayClass = 'traefik';

/** The roles that Traefik's documentation has for its providers. */
const roles = ['traefik-ingress-controller', 'gateway-role', 'traefik-ingress-nginx-controller'] as const;

/**
 * Installs Traefik as its documentation says, for IngressRouteTCPs, for Ingresses with the annotations of ingress-nginx and for Gateway API,
 * behind a load balancer at ports 443, 6443 and 8132. Resolves with the address of the load balancer when Traefik is ready.
 */
export async function installTraefik(cluster: ManagementCluster): Promise<string> {
  await cluster.loadImage((await traefikArchive()).path);
  const documented = path.join(await moduleFolder('traefik'), 'docs/content/reference/dynamic-configuration');
  const definitions = path.join(await moduleFolder('gateway-api'), 'config/crd/standard');
  const files = [
    ...(await readdir(definitions))
      .filter((file) => !file.includes('_vap_'))
      .map((file) => path.join(definitions, file)),
    ...['definition-v1', 'rbac'].map((what) => path.join(documented, `kubernetes-crd-${what}.yml`)),
    ...['gateway', 'ingress-nginx'].map((what) => path.join(documented, `kubernetes-${what}-rbac.yml`)),
  ];
  for (const file of files) await cluster.apply(await readFile(file, 'utf8'));
  await cluster.apply(manifests());
  const service = { apiVersion: 'v1', kind: 'Service', namespace, name };
  const found = await cluster.waitFor(service, (object) => addressIn(object) !== '', { what: 'an address' });
  await cluster.waitFor({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name }, 'Available');
  return addressIn(found);
}

function addressIn(service: PlainObject | undefined): string {
  const { loadBalancer } = (service?.status ?? {}) as { loadBalancer?: { ingress?: readonly { ip?: string }[] } };
  return loadBalancer?.ingress?.[0]?.ip ?? '';
}

function manifests(): readonly PlainObject[] {
  const metadata = { name, namespace };
  const rbac = 'rbac.authorization.k8s.io';
  const bound = roles.map((role): PlainObject => ({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${name}-${role}` },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  }));
  const args = [
    ...Object.entries(entryPoints).map(([entry, port]) => `--entryPoints.${entry}.address=:${port}`),
    '--ping=true',
    '--log.level=INFO',
    '--global.checkNewVersion=false',
    '--global.sendAnonymousUsage=false',
    '--providers.kubernetesCRD=true',
    '--providers.kubernetesGateway=true',
    '--providers.kubernetesIngressNGINX=true',
    '--providers.kubernetesIngressNGINX.httpsEntryPoint=websecure',
    `--providers.kubernetesIngressNGINX.publishService=${namespace}/${name}`,
  ];
  const container = {
    name,
    image: traefikImage,
    imagePullPolicy: 'IfNotPresent',
    args,
    ports: Object.entries(entryPoints).map(([entry, containerPort]) => ({ name: entry, containerPort })),
    readinessProbe: { httpGet: { path: '/ping', port: 'traefik' }, periodSeconds: 1 },
  };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    ...bound,
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: ingressClass },
      spec: { controller: 'k8s.io/ingress-nginx' },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: gatewayClass },
      spec: { controllerName: 'traefik.io/gateway-controller' },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        type: 'LoadBalancer',
        selector: labels,
        ports: [
          { name: 'websecure', port: 443, targetPort: 'websecure' },
          { name: 'kube-apiserver', port: 6443, targetPort: 'kube-apiserver' },
          { name: 'konnectivity', port: 8132, targetPort: 'konnectivity' },
        ],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: name, terminationGracePeriodSeconds: 1, containers: [container] },
        },
      },
    },
  ];
}
