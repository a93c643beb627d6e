import { expect, test } from '@jest/globals';
import type { Tenancy, TenancyContent } from '../driver.ts';
import type { Stage } from './stage.ts';

const never = new AbortController().signal;
/** Larger than what servers add at once when a table or a log grows, and not compressible. */
const valueBytes = 64 * 1024;
const values = 64;

/** How much of its datastore a tenancy occupies. */
export function testMeasuring<Config>(started: () => Stage<Config>): void {
  const bytesOf = async (tenancy: Tenancy): Promise<number> =>
    (await started().session.measure(tenancy, never))?.bytes ?? Number.NaN;

  const contentOf = async (tenancy: Tenancy): Promise<TenancyContent> =>
    (await started().session.measure(tenancy, never))?.content ?? { keys: Number.NaN, bytes: Number.NaN };

  /** Distinct keys with values that cannot be compressed. */
  const fill = async (tenancy: Tenancy, count: number): Promise<void> => {
    const stage = started();
    await using hand = await stage.connect(await stage.tenant(tenancy));
    for (let each = 0; each < count; each += 1) await hand.write(`filled-${each}`, randomText(each));
  };

  test('measures a tenancy that grows by what its tenant writes, and no other', async () => {
    const stage = started();
    const [{ tenancy }, neighbor] = [await stage.settle(), await stage.settle()];
    await fill(tenancy, 1);
    const [before, others] = [await bytesOf(tenancy), await bytesOf(neighbor.tenancy)];
    expect(before).toBeGreaterThan(0);
    await fill(tenancy, values);
    const grown = (await bytesOf(tenancy)) - before;
    const written = values * valueBytes;
    expect(grown).toBeGreaterThan(written * 0.9);
    expect(grown).toBeLessThan(written * 2.5);
    expect((await bytesOf(neighbor.tenancy)) - others).toBeLessThan(valueBytes);
  }, 60_000);

  test('measures what a tenant has while its access is revoked', async () => {
    const stage = started();
    const { tenancy } = await stage.settle();
    await fill(tenancy, 1);
    const [before, content] = [await bytesOf(tenancy), await contentOf(tenancy)];
    await stage.session.revoke?.(tenancy);
    expect(await contentOf(tenancy)).toEqual(content);
    expect(Math.abs((await bytesOf(tenancy)) - before)).toBeLessThan(valueBytes);
  });

  test('knows no size of a tenancy that does not exist, or no longer', async () => {
    const stage = started();
    expect(await stage.session.measure(stage.newTenancy(), never)).toBeUndefined();
    const { tenancy } = await stage.settle();
    await stage.session.remove(tenancy);
    expect(await stage.session.measure(tenancy, never)).toBeUndefined();
  });

  test('counts the writes to a tenancy, and to no other', async () => {
    const stage = started();
    const [{ tenancy }, neighbor] = [await stage.settle(), await stage.settle()];
    const writesOf = async (of: Tenancy): Promise<number> => (await stage.session.countWrites(of, never)) ?? Number.NaN;
    const [before, others] = [await writesOf(tenancy), await writesOf(neighbor.tenancy)];
    await using hand = await stage.connect(await stage.tenant(tenancy));
    for (let each = 0; each < values; each += 1) await hand.write(`counted-${each % 8}`, String(each));
    expect((await writesOf(tenancy)) - before).toBe(values);
    expect((await writesOf(neighbor.tenancy)) - others).toBe(0);
    await hand.write('counted', 'once more');
    expect((await writesOf(tenancy)) - before).toBe(values + 1);
    const { writes } = (await stage.session.measure(tenancy, never)) ?? {};
    expect(writes ?? before + values + 1).toBe(before + values + 1);
  });

  test('counts no writes of a tenancy that does not exist, or no longer, or of another owner', async () => {
    const stage = started();
    expect(await stage.session.countWrites(stage.newTenancy(), never)).toBeUndefined();
    const { tenancy } = await stage.settle();
    const { schema, user } = tenancy;
    const counting = stage.session.countWrites({ ...stage.newTenancy(), schema, user }, never);
    await expect(counting).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    expect(await stage.session.countWrites(tenancy, never)).toBeGreaterThanOrEqual(0);
    await stage.session.remove(tenancy);
    expect(await stage.session.countWrites(tenancy, never)).toBeUndefined();
  });

  test('tells nobody the size of the tenancy of another owner', async () => {
    const stage = started();
    const { schema, user } = (await stage.settle()).tenancy;
    const measuring = stage.session.measure({ ...stage.newTenancy(), schema, user }, never);
    await expect(measuring).rejects.toMatchObject({ reason: 'OwnedByAnother' });
  });
}

/** The same text for the same seed, of printable signs. */
function randomText(seed: number): string {
  let state = seed + 1;
  return Array.from({ length: valueBytes }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return String.fromCharCode(33 + ((state >> 16) % 94));
  }).join('');
}
