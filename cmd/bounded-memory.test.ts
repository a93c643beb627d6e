import { afterEach, expect, test } from '@jest/globals';
import { ChurningFleet } from '../testing/worlds/churning-fleet.ts';

let fleet: ChurningFleet | undefined;
afterEach(() => fleet?.stop());

const atOnce = 5;

test('the manager uses no more memory after many tenants than after the first ones', async () => {
  fleet = new ChurningFleet();
  await fleet.start();
  await fleet.pass(atOnce);
  const before = [...fleet.memory.sizes()];
  await fleet.pass(atOnce);
  await fleet.pass(atOnce);
  expect([...fleet.memory.sizes()]).toEqual(before);
}, 600_000);
