import { rendezvous } from './rendezvous.ts';

/** What a member says publicly that it may be working on. */
export interface Claim {
  /** The members among which it shares the keys; it claims those that are its own among them. */
  readonly members: readonly string[];
  /** Keys that it no longer owns, and is still working on. */
  readonly held: readonly string[];
}

/** Of a member that says nothing that can be understood: it may be working on everything. */
export type UnknownClaim = 'everything';

/** Changes with the hash: a member that computes owners in another way must not be misunderstood. */
const algorithm = 'sha256-48';

/** What a member claims that has just begun. */
export const noClaim: Claim = { members: [], held: [] };

/** A claim as text, for the annotation of a Lease. */
export function claimText({ members, held }: Claim): string {
  return JSON.stringify({ algorithm, members, held });
}

/** The inverse of `claimText`. What is missing or not understood counts as a claim to everything. */
export function readClaim(text: string | undefined): Claim | UnknownClaim {
  if (text === undefined) return 'everything';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'everything';
  }
  if (typeof value !== 'object' || value === null) return 'everything';
  if (!('algorithm' in value) || value.algorithm !== algorithm) return 'everything';
  if (!('members' in value) || !isTexts(value.members) || !('held' in value) || !isTexts(value.held)) {
    return 'everything';
  }
  return { members: value.members, held: value.held };
}

/** Whether the member may be working on the key. */
export function claims(member: string, claim: Claim | UnknownClaim, key: string): boolean {
  if (claim === 'everything') return true;
  return rendezvous(key, claim.members) === member || claim.held.includes(key);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
