import type { Manifest } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { AuthoritySecret } from './ca-secrets.ts';
import { authorityData } from './rotation/rotating-ca.ts';
import type { RotatingAuthority } from './rotation/rotating-ca.ts';
import { keysData } from './rotation/rotating-keys.ts';
import type { RotatingKeys } from './rotation/rotating-keys.ts';
import { secret } from '../shared/secret.ts';

/** A CA as a Secret. */
export function authoritySecret(
  tcp: TenantControlPlane,
  where: AuthoritySecret,
  input: {
    readonly authority: RotatingAuthority;
    readonly rotated?: string | undefined;
    readonly type?: string | undefined;
  },
): Manifest {
  const data = authorityData(where, input.authority);
  const { rotated, type } = input;
  return secret(tcp, { name: where.name, component: where.component, data, rotated, type });
}

/** The keys of service-account tokens as a Secret. */
export function serviceAccountSecret(
  tcp: TenantControlPlane,
  input: { readonly keys: RotatingKeys; readonly rotated?: string | undefined },
): Manifest {
  return secret(tcp, {
    name: tenantObjects(tcp.metadata.name).serviceAccount,
    component: 'sa-certificate',
    data: keysData(input.keys),
    rotated: input.rotated,
  });
}
