import type { RotationSubject } from '../../../api/steward/v1alpha1/credentials-rotation.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

const rotated: Readonly<Record<RotationSubject, string>> = {
  certificateAuthorities: 'its CAs are being rotated',
  serviceAccountKey: 'its service-account key is being rotated',
};

/** What a control plane does that goes on only while it is awake, or would be left half done: as text, the first of it. */
export function workUnderWay({ status }: Pick<TenantControlPlane, 'status'>): string | undefined {
  const { storage, certificates, encryption, kubernetesResources } = status ?? {};
  const migration = storage?.migration;
  if (isUnderWay(migration)) return `its data is being migrated to DataStore ${migration.target.dataStoreName}`;
  for (const subject of ['certificateAuthorities', 'serviceAccountKey'] as const) {
    const { phase } = certificates?.rotation?.[subject] ?? {};
    // A prepared rotation waits for a person.
    if (phase === 'Preparing' || phase === 'Completing') return rotated[subject];
  }
  if (encryption !== undefined && encryption.step !== 'Done') return 'the encryption of its data is being changed';
  const state = kubernetesResources?.version?.status;
  if (state === 'CertificateAuthorityRotating') return rotated.certificateAuthorities;
  return state === 'Upgrading' ? 'it is being upgraded' : undefined;
}
