import type { Manifest } from '../../../api/meta.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ClientTls, StoreBinding, Tenancy } from '../../../stores/driver.ts';
import { secret } from '../shared/secret.ts';

/** What the tenant's pods need to reach its tenancy. */
export interface StoreAccess {
  readonly tenancy: Tenancy;
  readonly binding: StoreBinding;
  /** Absent when the datastore uses no TLS. */
  readonly tls: ClientTls | undefined;
  /** RFC 3339 time of the last rotation of the client certificate on request. */
  readonly rotated?: string | undefined;
}

/** Values of the datastore-config Secret: the environment of kine. */
export function dataStoreConfig({ tenancy, binding }: StoreAccess): Readonly<Record<string, string>> {
  const keys = dataKeys.dataStoreConfig;
  const kine = binding.kind === 'kine' ? binding : undefined;
  return {
    [keys.connection]: kine?.connection ?? '',
    [keys.schema]: tenancy.schema,
    [keys.user]: kine?.user ?? tenancy.user,
    [keys.password]: kine?.password ?? tenancy.password ?? '',
  };
}

/** Values of the datastore-certificate Secret: the TLS files, and those that the driver gives kine. */
export function dataStoreCertificate({ tls, binding }: StoreAccess): Readonly<Record<string, string>> {
  const keys = dataKeys.dataStoreCertificate;
  const files = binding.kind === 'kine' ? binding.files : undefined;
  if (tls === undefined) return { ...files };
  return {
    ...files,
    [keys.ca]: tls.ca,
    ...(tls.certificate !== undefined && { [keys.certificate]: tls.certificate }),
    ...(tls.key !== undefined && { [keys.key]: tls.key }),
  };
}

/** The two Secrets with which the pods of a control plane reach their datastore. */
export function dataStoreSecrets(tcp: TenantControlPlane, access: StoreAccess): readonly Manifest[] {
  const names = tenantObjects(tcp.metadata.name);
  return [
    secret(tcp, { name: names.dataStoreConfig, component: 'datastore-config', data: dataStoreConfig(access) }),
    secret(tcp, {
      name: names.dataStoreCertificate,
      component: 'datastore-certificate',
      data: dataStoreCertificate(access),
      ...(access.tls !== undefined && { lifecycle: 'x509' as const }),
      rotated: access.rotated,
    }),
  ];
}
