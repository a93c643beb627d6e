import { clusterNameLabel, clusterSecretType } from '../../api/cluster-api/names.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { DraftOf, ObjectMeta } from '../../api/meta.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A Secret in namespace `default` that somebody supplies for a Cluster before its control plane is made; of token keys the certificate is the public half. */
export function suppliedSecret(
  { cluster, purpose }: { readonly cluster: string; readonly purpose: string },
  { certificate, key }: KeyPair,
  changes: {
    readonly type?: string;
    readonly metadata?: ObjectMeta;
    readonly data?: Secret['data'];
    readonly immutable?: true;
  } = {},
): DraftOf<Secret> {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: changes.type ?? clusterSecretType,
    metadata: {
      namespace: 'default',
      name: `${cluster}-${purpose}`,
      labels: { [clusterNameLabel]: cluster },
      ...changes.metadata,
    },
    immutable: changes.immutable,
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key), ...changes.data },
  };
}
