import { seededNumber } from '../../e2e/framework/run-seed.ts';
import type { Fault } from './faults/fault.ts';
import type { MadeCall } from './world/product-call.ts';

/** A fault at one call. */
export interface Case {
  readonly fault: Fault;
  /** From 1 on. */
  readonly call: number;
}

/** Every fault at every call at which it can happen. */
export function everyCase(calls: readonly MadeCall[], faults: readonly Fault[]): readonly Case[] {
  return faults.flatMap((fault) => calls.flatMap((call, at) => (fault.applies(call) ? [{ fault, call: at + 1 }] : [])));
}

/** So many of all cases: one of each part of equal size, chosen by the seed. */
export function sampleOf(
  all: readonly Case[],
  count: number,
  { seed, purpose }: { readonly seed: number; readonly purpose: string },
): readonly Case[] {
  const parts = Math.min(count, all.length);
  const begin = (part: number): number => Math.floor((part * all.length) / parts);
  return Array.from({ length: parts }, (_, part) =>
    seededNumber(seed, `${purpose}, part ${part}`, begin(part), begin(part + 1)),
  ).flatMap((at) => all[at] ?? []);
}
