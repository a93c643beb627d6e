import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import { runMatrix, sum, reportIsolation } from './attack-matrix.ts';
import type { Stage } from './stage.ts';

/** What names must not inject into a statement, a subject, a path or a distinguished name. */
const fragments = [
  ...['"', "'", '`', '\\', ';', '--', '/*', '*/', '%', '_', '-', '.', '*', '>', '/', '$', '@', ':', ',', '=', '+', '#'],
  ...[' ', '\0', '\n', '\u007f', '\u0085', '\u200b', 'ä', 'ａ', 'ß', 'İ', '💥', 'e\u0301', '\ud800', '\udc00'],
  ...['root', 'postgres', 'public', 'mysql', 'sys', '$JS', 'kine', "' OR '1'='1", '; DROP DATABASE a', '${DB_USER}'],
];
const letter = fc.constantFrom('a', 'b', 'z', 'A', 'Z', '0', '9');
const lengths = fc.constantFrom(1, 31, 32, 33, 62, 63, 64, 65, 255, 256);

/** Random names, mostly of special characters, many at the lengths where servers truncate. */
const names = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.array(fc.oneof(fc.constantFrom(...fragments), letter), { maxLength: 12 }).map((parts) => parts.join('')),
  fc
    .tuple(lengths, fc.constantFrom('a', 'a_', 'ä', 'a-', 'a%'))
    .map(([length, unit]) => unit.repeat(length).slice(0, length)),
);

/** Tried in every run, in addition to the random names. */
const always = [
  ...["Robert'); DROP TABLE kine;--", '`a`.*', '"a"', 'a-b', '-a', 'a\\', '$(DB_USER)', '*', '>', 'a.b', ' a', 'a '],
  ...['ä', '日本', '\ud800', 'a\udfff', 'a'.repeat(63), 'a'.repeat(64), 'ä'.repeat(32), 'A'.repeat(32), '%', '_'],
];

/** Names that a server might take for each other: wildcards of LIKE and of grants, case, prefixes, cut ends. */
const neighbors: readonly (readonly [string, string])[] = [
  ['n_1', 'nx1'],
  ['n%1', 'nxx1'],
  ['n', 'n_'],
  ['n', 'n-'],
  ['n', 'n0'],
  ['case', 'CASE'],
  ['p'.repeat(62), 'p'.repeat(63)],
  ['q'.repeat(63), 'q'.repeat(64)],
  ["o'", "o''"],
];

/** Makes the tenancy; false when its names are refused. */
async function made<Config>(stage: Stage<Config>, tenancy: Tenancy): Promise<boolean> {
  try {
    await stage.session.ensure(tenancy);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'InvalidName') return false;
    throw error;
  }
}

/** What the server has by default under these names is never given to a tenant. */
async function refusedAsTaken<Config>(stage: Stage<Config>, tenancy: Tenancy): Promise<void> {
  const refusal = { reason: expect.stringMatching(/^(?:OwnedByAnother|InvalidName)$/) };
  await expect(stage.session.ensure(tenancy)).rejects.toMatchObject(refusal);
}

/** A name is refused, or it is exactly this tenancy. */
export function testNames<Config>(started: () => Stage<Config>): void {
  test('refuses names that would reach beyond a tenancy', async () => {
    const stage = started();
    const { store, session } = stage;
    const before = await store.dump();
    for (const schema of ['', 'a/b', 'a\0b', 'root']) {
      await expect(session.ensure(stage.newTenancy({ schema }))).rejects.toMatchObject({ reason: 'InvalidName' });
      await session.remove(stage.newTenancy({ schema }));
    }
    await expect(session.ensure(stage.newTenancy({ user: 'root' }))).rejects.toMatchObject({ reason: 'InvalidName' });
    expect(await store.dump()).toEqual(before);
  });

  test('refuses any other name without a change, or uses it literally', async () => {
    const stage = started();
    const { store, session } = stage;
    const before = await store.dump();
    let tried = 0;
    let accepted = 0;
    const property = fc.asyncProperty(names, names, fc.boolean(), async (schema, other, same) => {
      tried += 1;
      const tenancy = stage.newTenancy({ schema, user: same ? schema : other });
      const was = await store.names();
      if (was.schemas.includes(tenancy.schema) || was.users.includes(tenancy.user)) {
        await refusedAsTaken(stage, tenancy);
        expect(await store.names()).toEqual(was);
        return;
      }
      if (await made(stage, tenancy)) {
        accepted += 1;
        const is = await store.names();
        expect(is.schemas.filter((name) => !was.schemas.includes(name))).toEqual([tenancy.schema]);
        expect(is.users.filter((name) => !was.users.includes(name))).toEqual([tenancy.user]);
        await stage.use(await stage.tenant(tenancy), 'x');
      }
      await session.remove(tenancy);
      expect(await store.names()).toEqual(was);
    });
    const examples = always.map((name): [string, string, boolean] => [name, name, true]);
    await fc.assert(property, { numRuns: examples.length + 60, examples, endOnFailure: true });
    process.stderr.write(`names ${stage.title}: ${tried} tried, ${accepted} accepted\n`);
    expect(await store.dump()).toEqual(before);
  }, 180_000);

  test('isolates tenants whose names a server might confuse', async () => {
    const stage = started();
    const { session } = stage;
    const results = [];
    for (const [schema, other] of neighbors) {
      const pair = [
        stage.newTenancy({ schema, user: schema }),
        stage.newTenancy({ schema: other, user: other }),
      ] as const;
      const [left, right] = [await made(stage, pair[0]), await made(stage, pair[1])];
      if (left && right) {
        const [first, second] = [await stage.tenant(pair[0]), await stage.tenant(pair[1])];
        await stage.use(first, 'first');
        await stage.use(second, 'second');
        results.push(await runMatrix(stage, first, second), await runMatrix(stage, second, first));
      }
      await session.remove(pair[0]);
      await session.remove(pair[1]);
    }
    const all = sum(results);
    reportIsolation(stage.title, all, ` between ${results.length / 2} pairs of like names`);
    expect(all).toMatchObject({ breaches: [], unclear: [] });
    expect(results.length).toBeGreaterThan(0);
  }, 240_000);
}
