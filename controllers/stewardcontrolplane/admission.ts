import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { stewardControlPlaneTemplate } from '../../api/controlplane/steward-control-plane-template.ts';
import type { ObjectOf } from '../../api/schema.ts';
import { collectComplaints } from '../../kubeadm/collect-complaints.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { alternativeNames } from '../../kubeadm/san.ts';
import { checkUpgrade, parseSupportedVersion, parseVersion, versionWarnings } from '../../kubeadm/versions.ts';

/**
 * Everything that is wrong with a StewardControlPlane on its own, on creation and on every update. No minor above `newestMinor`
 * is hosted. One that is being deleted is let pass. What only the TenantControlPlane can judge is told by the condition TenantControlPlaneCreated.
 */
export function complaintsAbout(
  scp: StewardControlPlane,
  old: StewardControlPlane | undefined,
  newestMinor?: number,
): readonly InvalidInput[] {
  if (scp.metadata.deletionTimestamp !== undefined) return [];
  return [...versionComplaints(scp, old, newestMinor), ...sanComplaints(scp.spec.network.certSANs, 'spec')];
}

/** What a person should know of an object that is admitted. */
export function warningsAbout(scp: StewardControlPlane): readonly string[] {
  return scp.metadata.deletionTimestamp === undefined ? versionWarnings(scp.spec.version, 'spec.version') : [];
}

/** Everything that is wrong with a template: what its control planes would be refused for. */
export function templateComplaints(template: ObjectOf<typeof stewardControlPlaneTemplate>): readonly InvalidInput[] {
  if (template.metadata.deletionTimestamp !== undefined) return [];
  return sanComplaints(template.spec.template.spec.network.certSANs, 'spec.template.spec');
}

/** A version that stays is not judged again: one that is hosted no more must not keep finalizers and endpoints from being written. */
function versionComplaints(
  scp: StewardControlPlane,
  old: StewardControlPlane | undefined,
  newestMinor: number | undefined,
): readonly InvalidInput[] {
  if (old?.spec.version === scp.spec.version) return [];
  const field = 'spec.version';
  // Cluster API reads both fields; the lowest running version is what an upgrade starts from.
  const starts = [old?.spec.version, old?.status?.version].filter((text): text is string => Boolean(text));
  return collectComplaints(() => {
    const wanted = parseSupportedVersion(scp.spec.version, field, newestMinor);
    for (const text of starts) checkUpgrade(parseVersion(text, field), wanted, field, newestMinor);
  });
}

function sanComplaints(sans: readonly string[] | undefined, path: string): readonly InvalidInput[] {
  return collectComplaints(() => {
    alternativeNames(sans ?? [], `${path}.network.certSANs`);
  });
}
