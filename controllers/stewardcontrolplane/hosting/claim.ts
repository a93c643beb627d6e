import { createHash } from 'node:crypto';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { externalClaimSecret } from '../../../api/names.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';

/** What a StewardControlPlane knows of its TenantControlPlane in another cluster. */
export interface Claim {
  /** Random; only its hash leaves this cluster. Secret. */
  readonly proof: string;
  /** Name of the TenantControlPlane. */
  readonly name: string;
  readonly namespace: string;
  /** UID of that namespace: distinguishes the cluster from any other, and the namespace from a recreated one. */
  readonly namespaceUid: string;
  /** UID of the StewardControlPlane that has the TenantControlPlane; empty before. After a move it is that of the one which is gone. */
  readonly holder: string;
}

/** What the TenantControlPlane is called: the Go provider's name for it, which no other UID leads to. */
export function externalTenantName(scp: StewardControlPlane): string {
  return `kcp-${scp.metadata.uid}`;
}

/** The proof in the TenantControlPlane: a hash. */
export function claimHash(proof: string): string {
  return createHash('sha256').update(proof).digest('hex');
}

const fields = ['proof', 'name', 'namespace', 'namespaceUid', 'holder'] as const;

/**
 * The Secret that holds a claim. The StewardControlPlane owns it, so that `clusterctl move` takes it along: who has it may take the
 * TenantControlPlane over.
 */
export function claimSecret(scp: StewardControlPlane, claim: Claim): Manifest {
  const { name, namespace, labels } = scp.metadata;
  const cluster = labels?.[clusterNameLabel];
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: externalClaimSecret(name),
      namespace,
      ...(cluster === undefined ? {} : { labels: { [clusterNameLabel]: cluster } }),
      ownerReferences: [ownerReferenceOf(scp)],
    },
    type: 'Opaque',
    data: Object.fromEntries(fields.map((field) => [field, Buffer.from(claim[field]).toString('base64')])),
  };
}

/** The claim in a Secret; undefined when it is not complete. */
export function readClaim(secret: Secret | undefined): Claim | undefined {
  const read = (field: (typeof fields)[number]): string =>
    Buffer.from(secret?.data?.[field] ?? '', 'base64').toString('utf8');
  const known = {
    proof: read('proof'),
    name: read('name'),
    namespace: read('namespace'),
    namespaceUid: read('namespaceUid'),
  };
  return Object.values(known).includes('') ? undefined : { ...known, holder: read('holder') };
}
