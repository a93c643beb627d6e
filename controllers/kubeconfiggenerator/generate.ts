import type { Secret } from '../../api/core/kinds.ts';
import type { KubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clientKubeconfig, NotGeneratedError } from '../../kubeadm/client-kubeconfig.ts';
import type { Generated } from '../../kubeadm/client-kubeconfig.ts';
import type { IssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import type { Profile } from '../../kubeadm/pki/key-pair.ts';
import { NoValueError, valueIn } from './components/value-in.ts';

/** What one kubeconfig is made of. */
export interface Ingredients {
  readonly generator: KubeconfigGenerator;
  readonly tcp: TenantControlPlane;
  /** The tenant's Secrets; undefined while there is none. */
  readonly admin: Secret | undefined;
  readonly authority: Secret | undefined;
  /** The kubeconfig in place. */
  readonly present: string | undefined;
  /** True when a new one was requested. */
  readonly rotate: boolean;
  readonly now: Date;
  readonly renewBeforeMs: number;
}

function profileOf({ generator, tcp }: Ingredients): Profile {
  try {
    const organizations = (generator.spec.groups ?? []).map((group) => valueIn(tcp, group));
    return {
      commonName: valueIn(tcp, generator.spec.user),
      organizations: [...new Set(organizations)].sort(),
      usages: ['clientAuth'],
    };
  } catch (error) {
    if (error instanceof NoValueError) throw new NotGeneratedError(error.message, { cause: error });
    throw error;
  }
}

/**
 * The kubeconfig in place while it is right, otherwise a new one. Throws `NotGeneratedError` when something is missing that
 * it is made of.
 */
export async function generate({ generator, tcp, ...from }: Ingredients, issuers: IssuerPool): Promise<Generated> {
  const profile = profileOf({ generator, tcp, ...from });
  const request = {
    ...from,
    adminKey: generator.spec.controlPlaneEndpointFrom,
    absentKey: (keys: string) => `set spec.controlPlaneEndpointFrom to one of ${keys}`,
    profile,
    name: generator.metadata.name,
    algorithm: tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256',
  } as const;
  return clientKubeconfig(request, issuers);
}
