import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { attempt } from './attempt.ts';
import { keptInputs } from './corpus.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { targets } from './targets.ts';

describe.each(targets.map((target): [string, FuzzTarget] => [target.name, target]))('The parser of %s', (_, target) => {
  test('accepts or refuses all that fuzzing has kept', async () => {
    const inputs = [...(await target.seeds()).map((seed) => Buffer.from(seed)), ...keptInputs(target)];
    expect(inputs.length).toBeGreaterThan(0);
    for (const input of inputs) {
      const outcome = await attempt(target, input).then(() => 'well', String);
      expect({ input: input.toString('base64'), outcome }).toEqual({
        input: input.toString('base64'),
        outcome: 'well',
      });
    }
  });

  test('accepts or refuses valid input of which a part was replaced', async () => {
    const seeds = await target.seeds();
    const change = fc.record({
      seed: fc.constantFrom(...seeds.map((seed) => Buffer.from(seed))),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.nat(8),
      by: fc.uint8Array({ maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ seed, at, length, by }) => {
        const from = Math.floor(at * seed.length);
        await attempt(target, Buffer.concat([seed.subarray(0, from), by, seed.subarray(from + length)]));
      }),
      { numRuns: 50 },
    );
  });
});

test('An error that a parser is not documented to throw is a finding', async () => {
  const target = (parse: FuzzTarget['parse']): FuzzTarget => {
    return { name: 'x', from: 'nobody', seeds: () => [], refusals: [RangeError], parse };
  };
  const throws = (error: Error) => () => {
    throw error;
  };
  await attempt(target(throws(new RangeError('refused'))), Buffer.of(1));
  await expect(attempt(target(throws(new TypeError('broken'))), Buffer.of(1))).rejects.toThrow('broken');
  await expect(
    attempt(
      target(() => Promise.reject(new TypeError('later'))),
      Buffer.of(1),
    ),
  ).rejects.toThrow('later');
});
