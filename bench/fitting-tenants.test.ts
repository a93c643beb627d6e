import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { fittingTenants } from './fitting-tenants.ts';

describe('The tenants that fit', () => {
  test('are all that are wanted when there is room', () => {
    expect(fittingTenants(30, 20 * 1024)).toBe(30);
  });

  test('are as many as memory and the pods of one kubelet allow', () => {
    expect(fittingTenants(40, 10 * 1024)).toBe(18);
    expect(fittingTenants(500, 1024 * 1024)).toBe(90);
    expect(fittingTenants(1, 1024)).toBe(0);
  });

  test('are a whole number, never more than wanted, and never fewer with more memory', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.double({ min: 0, max: 1e6, noNaN: true }), fc.nat(10_000), (wanted, memory, more) => {
        const fit = fittingTenants(wanted, memory);
        expect(Number.isInteger(fit)).toBe(true);
        expect(fit).toBeLessThanOrEqual(wanted);
        expect(fittingTenants(wanted, memory + more)).toBeGreaterThanOrEqual(fit);
      }),
    );
  });
});
