import { createHash, randomInt } from 'node:crypto';

/** Variable of the environment with the seed of a run: what is chosen at random is chosen by it, and can be chosen again. */
export const runSeedVariable = 'STEWARD_SEED';

const greatest = 2 ** 31 - 1;

/** The seed that was asked for; undefined when none was. Throws an error for a word that is no seed. */
export function givenSeed(text = process.env[runSeedVariable] ?? ''): number | undefined {
  if (text === '') return undefined;
  const seed = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (seed <= greatest) return seed;
  throw new Error(
    `${runSeedVariable} is "${text}": give a whole number from 0 to ${greatest}, as a run has printed it.`,
  );
}

/** A seed that nobody has chosen. */
export function newSeed(): number {
  return randomInt(greatest);
}

/** A number from `least` to below `end`: always the same for a seed and a purpose, and another one for other purposes. */
export function seededNumber(seed: number, purpose: string, least: number, end: number): number {
  if (end <= least) throw new Error(`${purpose}: there is no number from ${least} to below ${end}`);
  const digest = createHash('sha256').update(`${seed} ${purpose}`).digest();
  return least + (digest.readUInt32BE(0) % (end - least));
}
