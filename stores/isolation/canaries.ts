import { createHash, randomBytes } from 'node:crypto';
import type { Driver, Tenancy } from '../driver.ts';
import { canaryPrefix } from '../tenancy-names.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The two tenancies between which a datastore is verified. Their names follow from `id` alone, so that the next run finds and removes what a
 * crash left; they begin with `canaryPrefix`, which no tenant can choose. None is a prefix of the other, and in SQL the first one, taken for
 * a pattern, matches the second: a grant on it whose underscores are not escaped opens the second one, too.
 */
export function canaries(
  id: string,
  { passwords }: Pick<Driver['capabilities'], 'passwords'>,
): readonly [first: Tenancy, second: Tenancy] {
  const digest = createHash('sha256').update(id).digest();
  // 13 of 32 characters are 65 bits.
  const hash = Array.from(digest.subarray(0, 13), (byte) => alphabet.charAt(byte % 32)).join('');
  const tenancy = (end: string): Tenancy => ({
    schema: `${canaryPrefix}${hash}${end}`,
    user: `${canaryPrefix}${hash}${end}`,
    owner: `${canaryPrefix}${id}/${end}`,
    ...(passwords && { password: randomBytes(24).toString('base64url') }),
  });
  return [tenancy('_a'), tenancy('ba')];
}
