import { createHash } from 'node:crypto';
import type { Mutant } from './mutant.ts';

/** How many mutants are judged in each room, and the seed of the choice: the same ones each time, as long as their code stands. */
export const sampled = {
  api: 30,
  runtime: 60,
  tenants: 40,
  stores: 60,
  kubeadm: 45,
  clusterstacks: 35,
  controllers: 70,
} as const;

export type Room = keyof typeof sampled;

export const rooms = Object.keys(sampled) as readonly Room[];

/** The room of a file. The API and the controllers of cluster stacks count among all others. */
export function roomOf({ file }: Pick<Mutant, 'file'>): string {
  const [room = '', inner = ''] = file.split('/');
  return room === 'clusterstacks' && ['api', 'controllers', 'cmd'].includes(inner) ? inner : room;
}

const seed = 'steward-1';

/** A number from 0 to 1 for each mutant that neither its line nor the code around it changes. */
const chance = ({ id }: Mutant): number =>
  createHash('sha256').update(`${seed}\0${id}`).digest().readUIntBE(0, 6) / 2 ** 48;

const rank = (mutant: Mutant): number => chance(mutant) / mutant.weight;

/** The values of the schemas below api/ are tables: each change of one shows in the generated definitions, and fails `gen --check`. */
const isTable = (mutant: Mutant): boolean => roomOf(mutant) === 'api' && mutant.operator === 'other literal';

/** The sample of one room: those with the lowest rank. What is added elsewhere moves few of them out. */
export const sampleOf = (mutants: readonly Mutant[], room: Room): readonly Mutant[] =>
  mutants
    .filter((mutant) => roomOf(mutant) === room && !isTable(mutant))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, sampled[room]);
