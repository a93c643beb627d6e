import { isSuppliedFor, suppliedKeys, suppliedSecretName } from '../../../api/cluster-api/supplied-secrets.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { dataKeys } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isTrustedBy } from './cluster-secrets.ts';

/** The Cluster whose Secrets are checked. */
export interface SuppliedTo {
  readonly cluster: string;
  readonly tenant: TenantControlPlane | undefined;
  /** Reads where the Cluster is. */
  readonly read: (name: string) => Promise<Secret | undefined>;
  /** Reads where the TenantControlPlane is. */
  readonly readTenants: (name: string | undefined) => Promise<Secret | undefined>;
}

const text = (encoded = ''): string => Buffer.from(encoded, 'base64').toString('utf8').trim();

/**
 * Names of the user-supplied front-proxy CA and token keys that the control plane does not use, because they were supplied after it was
 * created, or replaced since. They do no harm, but their author would believe that they are used.
 */
export async function unusedSupplied({ cluster, tenant, read, readTenants }: SuppliedTo): Promise<readonly string[]> {
  const certificates = tenant?.status?.certificates;
  const isUsed = {
    async proxy(given: string): Promise<boolean> {
      const held = (await readTenants(certificates?.frontProxyCA?.secretName))?.data;
      return held !== undefined && isTrustedBy(given, held[dataKeys.frontProxyCa.certificate] ?? '');
    },
    async sa(given: string): Promise<boolean> {
      const held = (await readTenants(certificates?.sa?.secretName))?.data;
      return text(held?.[dataKeys.serviceAccount.publicKey]).includes(text(given));
    },
  };
  const found = await Promise.all(
    (['proxy', 'sa'] as const).map(async (purpose) => {
      const name = suppliedSecretName(cluster, purpose);
      const secret = await read(name);
      if (!isSuppliedFor(secret, cluster)) return [];
      return (await isUsed[purpose](secret.data?.[suppliedKeys.certificate] ?? '')) ? [] : [name];
    }),
  );
  return found.flat();
}

/** What is reported to its author about one. */
export function unusedText(name: string): string {
  return `Secret ${name} was supplied by the user but is not used, because the control plane has had other keys since it was created or rotated: the Secret can be deleted`;
}
