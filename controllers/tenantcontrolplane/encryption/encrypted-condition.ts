import type { EncryptionStatus } from '../../../api/steward/v1alpha1/encryption-status.ts';
import type { WantedEncryption } from './encryption-state.ts';

/** Status, reason and message of the condition DataEncrypted. */
interface Finding {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** What else is known of a reconcile. */
export interface EncryptionReport {
  readonly wanted: WantedEncryption;
  /** Why what is in place stays as it is. */
  readonly trouble?: Pick<Finding, 'reason' | 'message'> | undefined;
  /** Why the phases could not go on. */
  readonly error?: string | undefined;
}

const texts = {
  Adding: 'API servers are being configured to read with the provider in the spec',
  Switching: 'API servers begin to write with the provider in the spec',
  Rewriting: 'objects are being rewritten',
  Retiring: 'the former provider is being removed from the API servers',
} as const;

/** True when some of the data may be in plain text, although the spec wants it encrypted or no longer does. */
function isPartlyPlain({ resources }: EncryptionStatus, { resources: wanted }: WantedEncryption): boolean {
  const covered = new Map(resources.map((one) => [one.resource, one]));
  return [...new Set([...wanted, ...covered.keys()])].some((resource) => {
    const found = covered.get(resource);
    return found === undefined || found.writes === 'identity' || found.reads?.includes('identity') === true;
  });
}

function progressOf({ step, rewriting, message = '' }: EncryptionStatus, error: string | undefined): string {
  const text = step === 'Done' ? '' : texts[step];
  const far =
    step === 'Rewriting' && rewriting !== undefined ? `${rewriting.objects} so far, now ${rewriting.resource}` : '';
  return [text, far, error ?? message].filter((part) => part !== '').join(': ');
}

/** The condition DataEncrypted; undefined for a tenant whose data never was to be encrypted. */
export function encryptedCondition(
  status: EncryptionStatus | undefined,
  { wanted, trouble, error }: EncryptionReport,
): Finding | undefined {
  const isWanted = wanted.resources.length > 0;
  if (status === undefined) {
    if (!isWanted) return undefined;
    return { status: 'False', reason: trouble?.reason ?? 'Adding', message: trouble?.message ?? error ?? '' };
  }
  const isEncrypted = status.resources.length > 0 && !isPartlyPlain(status, wanted);
  const state = isEncrypted ? 'True' : 'False';
  if (trouble !== undefined) return { status: state, reason: trouble.reason, message: trouble.message };
  if (status.step !== 'Done') return { status: state, reason: status.step, message: progressOf(status, error) };
  if (!isWanted) return { status: 'False', reason: 'NotRequested', message: '' };
  const writers = [...new Set(status.resources.map(({ writes }) => writes))].join(', ');
  const message = `${status.resources.map(({ resource }) => resource).join(', ')} are encrypted with ${writers}`;
  return { status: 'True', reason: 'Encrypted', message };
}
