import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { RevisionLead } from './revision-lead.ts';

const goOn = (): void => undefined;

function setUp() {
  const clock = new FakeClock();
  const raised: bigint[] = [];
  const lead = new RevisionLead(clock, (revision) => {
    raised.push(revision);
    return Promise.resolve();
  });
  return { clock, raised, lead };
}

describe('RevisionLead', () => {
  test('raises once, and again only when the source has caught up', async () => {
    const { raised, lead } = setUp();
    for (const revision of [500n, 600n, 1499n]) await lead.keep(revision, goOn);
    expect(raised).toEqual([1500n]);
    await lead.keep(1500n, goOn);
    expect(raised).toHaveLength(2);
    expect(raised[1]).toBeGreaterThanOrEqual(2500n);
  });

  test('leads by the growth of a fast source in one minute', async () => {
    const { clock, raised, lead } = setUp();
    await lead.keep(0n, goOn);
    await clock.advance(10_000);
    await lead.renew(5000n, goOn);
    expect(raised.at(-1)).toBe(5000n + 1000n + 500n * 60n);
  });

  test('renews nothing while the lead is full', async () => {
    const { raised, lead } = setUp();
    await lead.renew(7n, goOn);
    await lead.renew(7n, goOn);
    expect(raised).toEqual([1007n]);
  });
});
