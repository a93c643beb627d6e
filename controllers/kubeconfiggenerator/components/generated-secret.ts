import type { Manifest } from '../../../api/meta.ts';
import { annotations, dataKeys, generatedKubeconfig, labels, project } from '../../../api/names.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';

/** What a generated Secret is made of. */
export interface GeneratedSecret {
  readonly tcp: TenantControlPlane;
  /** Name of the KubeconfigGenerator. */
  readonly generator: string;
  readonly kubeconfig: string;
  /** RFC 3339 time of the last rotation on request. */
  readonly rotated?: string | undefined;
}

/** The labels by which the Secrets of a generator are found. */
export function generatedLabels(generator: string, tcp: string): Readonly<Record<string, string>> {
  return { [labels.project]: project, [labels.managedBy]: generator, [labels.managedFor]: tcp };
}

/** The Secret with a user's kubeconfig; it goes with its TenantControlPlane. */
export function generatedSecret({ tcp, generator, kubeconfig, rotated }: GeneratedSecret): Manifest {
  const { name: tenant, namespace } = tcp.metadata;
  const key = dataKeys.generatedKubeconfig;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: generatedKubeconfig(tenant, generator),
      namespace,
      labels: { ...generatedLabels(generator, tenant), [labels.certificateLifecycle]: 'kubeconfig' },
      annotations: {
        [annotations.checksum]: checksum({ [key]: kubeconfig }),
        ...(rotated !== undefined && { [annotations.rotate]: rotated }),
      },
      ownerReferences: [ownerReferenceOf(tcp)],
    },
    type: 'Opaque',
    data: { [key]: Buffer.from(kubeconfig).toString('base64') },
  };
}
