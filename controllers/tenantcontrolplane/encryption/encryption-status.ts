import type { EncryptionStatus, EncryptionStep } from '../../../api/steward/v1alpha1/encryption-status.ts';
import { without } from '../shared/without.ts';
import type { EncryptionFacts } from './encryption-facts.ts';
import { kmsContainersOf } from './encryption-pod.ts';
import type { WantedEncryption } from './encryption-state.ts';
import { staleResources, writesAsWanted } from './next-state.ts';
import { providerId } from './provider.ts';

/** What a reconcile found out about the present revision. */
export type EncryptionFindings = Pick<
  EncryptionStatus,
  'distributed' | 'rewritten' | 'rewriting' | 'lastRewriteTime' | 'message'
>;

function stepOf(
  { state }: EncryptionFacts,
  wanted: WantedEncryption,
  { distributed, rewritten }: EncryptionFindings,
): EncryptionStep {
  if (!writesAsWanted(state, wanted)) return 'Adding';
  if (staleResources(state).length > 0 && rewritten !== true) return distributed ? 'Rewriting' : 'Switching';
  if (staleResources(state).length === 0 && distributed) return 'Done';
  // A tenant that is encrypted from the start has nothing to retire.
  return state.revision === 1 ? 'Switching' : 'Retiring';
}

/** What was found out about the revision before; nothing about another one. */
export function findingsBefore(before: EncryptionStatus | undefined, { state }: EncryptionFacts): EncryptionFindings {
  const last = before?.lastRewriteTime === undefined ? {} : { lastRewriteTime: before.lastRewriteTime };
  if (before?.revision !== state.revision) return { distributed: false, ...last };
  return without(before, 'revision', 'step', 'resources', 'kmsContainers');
}

/** The status of the encryption. Keys are no part of it. */
export function encryptionStatus(
  facts: EncryptionFacts,
  wanted: WantedEncryption,
  findings: EncryptionFindings,
): EncryptionStatus {
  const { state } = facts;
  const containers = kmsContainersOf(state);
  return {
    revision: state.revision,
    step: stepOf(facts, wanted, findings),
    resources: state.resources.map(({ resource, readers }) => {
      const [writes = '', ...reads] = readers.map(({ provider }) => providerId(provider));
      return { resource, writes, ...(reads.length > 0 && { reads }) };
    }),
    ...(containers.length > 0 && { kmsContainers: containers }),
    ...findings,
  };
}
