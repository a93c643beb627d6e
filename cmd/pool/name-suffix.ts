import { randomInt } from 'node:crypto';

/** As in generated names of Kubernetes: no vowels, and nothing that looks like something else. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** So long that no name comes twice, neither at once nor after years. */
const length = 8;

/** The end of a generated name. */
export function nameSuffix(): string {
  return Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('');
}
