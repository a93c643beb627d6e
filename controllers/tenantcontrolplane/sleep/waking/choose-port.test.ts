import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { activatorPorts } from '../../../../api/names.ts';
import { choosePort } from './choose-port.ts';

describe('The port of a tenant', () => {
  test('depends on its UID alone while it is free, and is in the range', () => {
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        const port = choosePort(uid, () => false) ?? 0;
        expect(port).toBe(choosePort(uid, () => false));
        expect(port).toBeGreaterThanOrEqual(activatorPorts.from);
        expect(port).toBeLessThanOrEqual(activatorPorts.to);
      }),
    );
  });

  test('is another one for each of as many tenants as there are ports, and absent for one more', () => {
    const taken = new Set<number>();
    const choose = (uid: string) => choosePort(uid, (port) => taken.has(port));
    const count = activatorPorts.to - activatorPorts.from + 1;
    for (let tenant = 0; tenant < count; tenant += 1) taken.add(choose(`uid-${tenant}`) ?? 0);
    expect(taken.size).toBe(count);
    expect(choose('uid-more')).toBeUndefined();
  });

  test('is the next free one after that of its UID', () => {
    const first = choosePort('uid', () => false);
    const second = choosePort('uid', (port) => port === first);
    expect(second).toBe(first === activatorPorts.to ? activatorPorts.from : (first ?? 0) + 1);
  });
});
