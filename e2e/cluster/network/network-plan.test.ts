import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import {
  machineAddress,
  machineLink,
  machineOctets,
  networkCount,
  planNetwork,
  plannedRanges,
  rangesOverlap,
  usableNetworks,
} from './network-plan.ts';

const index = fc.integer({ min: 0, max: networkCount - 1 });

describe('planNetwork', () => {
  test('gives two harnesses ranges that share no address', () => {
    fc.assert(
      fc.property(index, index, (a, b) => {
        fc.pre(a !== b);
        for (const range of plannedRanges(planNetwork(a))) {
          for (const other of plannedRanges(planNetwork(b))) expect(rangesOverlap(range, other)).toBe(false);
        }
      }),
    );
  });

  test('keeps the ranges of one harness apart', () => {
    fc.assert(
      fc.property(index, (number) => {
        const ranges = plannedRanges(planNetwork(number));
        for (const [position, range] of ranges.entries()) {
          for (const other of ranges.slice(position + 1)) expect(rangesOverlap(range, other)).toBe(false);
        }
      }),
    );
  });

  test('names links as the kernel accepts them and places machines in their network', () => {
    fc.assert(
      fc.property(index, fc.integer({ min: machineOctets.first, max: machineOctets.last }), (number, octet) => {
        const plan = planNetwork(number);
        expect(machineLink(plan, octet).length).toBeLessThanOrEqual(15);
        expect(rangesOverlap(plan.machines, `${machineAddress(plan, octet)}/32`)).toBe(true);
      }),
    );
  });

  test('refuses an index that does not exist', () => {
    expect(() => planNetwork(networkCount)).toThrow(/whole number from 0 to 31/);
    expect(() => planNetwork(-1)).toThrow(RangeError);
  });
});

describe('usableNetworks', () => {
  test('tries all networks on a host that uses none of their ranges', () => {
    expect(usableNetworks(['192.0.2.0/24', '10.244.0.0/16'])).toHaveLength(networkCount);
  });

  test('leaves out a network of which the host uses a part', () => {
    expect(usableNetworks(['172.30.0.0/24'])).not.toContain(0);
    expect(usableNetworks(['10.161.7.0/24'])).not.toContain(1);
  });

  test('tries networks inside a larger range of the host last', () => {
    const order = usableNetworks(['172.30.0.0/20']);
    expect(order[0]).toBe(16);
    expect(order.slice(-16)).toContain(0);
  });
});
