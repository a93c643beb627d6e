import { createHash } from 'node:crypto';

/**
 * The member that a key belongs to: the one with the highest hash of both. Everyone who knows the same members finds the same one, each gets
 * about as many keys, and a member that comes or goes takes or leaves only its own. Undefined when there are no members.
 */
export function rendezvous(key: string, members: readonly string[]): string | undefined {
  let owner: string | undefined;
  let highest = -1;
  for (const member of members) {
    const weight = weightOf(key, member);
    if (weight < highest || (weight === highest && owner !== undefined && owner < member)) continue;
    [owner, highest] = [member, weight];
  }
  return owner;
}

/** 48 bits, which a number holds exactly. */
function weightOf(key: string, member: string): number {
  return createHash('sha256').update(`${member}\n${key}`).digest().readUIntBE(0, 6);
}
