import { expect, test } from '@jest/globals';
import { callerNetwork } from './caller-network.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::7', '2001:db8:1:2'],
  ['2001:db8::7', '2001:db8:0:0'],
  ['2001::3:4:5:6:7:8', '2001:0:3:4'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('A caller at "%s" is one of "%s"', (peer, network) => {
  expect(callerNetwork(peer)).toBe(network);
});

test('A caller whose address is not known is one of those without', () => {
  expect(callerNetwork(undefined)).toBe('');
});
