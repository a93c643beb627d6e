import type { Manifest } from '../../../api/meta.ts';
import { annotations, labels } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import { certificateExpiry } from '../../../kubeadm/pki/certificate-expiry.ts';
import { ownedManifest } from './owned-manifest.ts';

/** One Secret of a TenantControlPlane. */
export interface SecretInput {
  readonly name: string;
  readonly component: string;
  /** Values as text; encoded here. */
  readonly data: Readonly<Record<string, string>>;
  /** Opaque by default. */
  readonly type?: string | undefined;
  /** Which certificates in it are monitored for expiry. */
  readonly lifecycle?: 'x509' | 'kubeconfig';
  /** RFC 3339 time of the last rotation on request. */
  readonly rotated?: string | undefined;
}

/** A Secret with the checksum of its data, and when a certificate in it expires; only Steward changes it. */
export function secret(tcp: TenantControlPlane, input: SecretInput): Manifest {
  const data: Record<string, string> = {};
  for (const key of Object.keys(input.data).sort()) data[key] = Buffer.from(input.data[key] ?? '').toString('base64');
  const expiry = certificateExpiry(input.data);
  return ownedManifest(tcp, {
    apiVersion: 'v1',
    kind: 'Secret',
    name: input.name,
    component: input.component,
    labels: input.lifecycle === undefined ? {} : { [labels.certificateLifecycle]: input.lifecycle },
    annotations: {
      [annotations.checksum]: checksum(input.data),
      ...(expiry !== undefined && { [annotations.certificateExpiry]: expiry.toISOString() }),
      ...(input.rotated !== undefined && { [annotations.rotate]: input.rotated }),
    },
    body: { type: input.type ?? 'Opaque', data },
  });
}

/** The values of a Secret as text; bytes that are not UTF-8 become replacement characters, and fail where they are parsed. */
export function secretText(data: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  const text: Record<string, string> = {};
  for (const [key, value] of Object.entries(data ?? {})) text[key] = Buffer.from(value, 'base64').toString('utf8');
  return text;
}
