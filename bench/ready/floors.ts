import { dataKeys, tenantObjects } from '../../api/names.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { barePods, bareSecrets } from './bare-pods.ts';
import type { CapturedTenant } from './captured-tenant.ts';
import type { Floor } from './floor-contender.ts';
import { kubeadmFiles } from './kubeadm-files.ts';
import { tenantCredentials } from './tenant-credentials.ts';
import { tenantPort } from './tenant.ts';

/** Namespaces of the two floors. */
export const floorNamespaces = { own: 'bench-own-pods', bare: 'bench-bare-pods' } as const;

/** The very objects that Steward made, by hand: what Steward itself costs is the difference to them. */
export function ownPodsFloor(captured: CapturedTenant): Floor {
  const names = tenantObjects(captured.deployment.metadata?.name ?? '');
  const kubeconfig = valueOf(captured.secrets, names.adminKubeconfig, dataKeys.adminKubeconfig.superAdmin);
  return {
    name: 'own pods by hand',
    namespace: floorNamespaces.own,
    secrets: captured.secrets,
    service: captured.service,
    deployment: captured.deployment,
    prefix: captured.prefix,
    credentials: tenantCredentials(kubeconfig),
  };
}

/** The fewest flags with certificates of the real kubeadm: what the design of Steward's pods costs is in the difference too. */
export async function barePodsFloor(captured: CapturedTenant, version: string): Promise<Floor> {
  const { clusterIp, prefix, servers, secrets, deployment } = captured;
  const namespace = floorNamespaces.bare;
  const files = await kubeadmFiles(version, clusterIp, tenantPort);
  const store = named(secrets, tenantObjects(deployment.metadata?.name ?? '').dataStoreCertificate);
  const etcd = { servers, prefix, credentials: store.data ?? {} };
  const input = { name: 'bare', namespace, replicas: 1, version, clusterIp, port: tenantPort, files, etcd };
  const [service, bare] = barePods(input);
  return {
    name: 'bare pods by hand',
    namespace,
    secrets: bareSecrets(input),
    service,
    deployment: bare,
    prefix,
    credentials: tenantCredentials(files.kubeconfigs['super-admin.conf'] ?? ''),
  };
}

function named(secrets: readonly PlainObject[], name: string): PlainObject {
  const found = secrets.find(({ metadata }) => metadata?.name === name);
  if (found === undefined) throw new Error(`Steward made no Secret ${name}.`);
  return found;
}

function valueOf(secrets: readonly PlainObject[], name: string, key: string): string {
  const value = named(secrets, name).data?.[key];
  if (value === undefined) throw new Error(`Secret ${name} has no key ${key}.`);
  return Buffer.from(value, 'base64').toString();
}
