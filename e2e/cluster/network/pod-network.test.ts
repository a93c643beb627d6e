import { expect, test } from '@jest/globals';

import { cniConflist } from './cni-conflist.ts';
import { podRoutes } from './pod-network.ts';

const machines = [
  { name: 'a', address: '172.30.0.11' },
  { name: 'b', address: '172.30.0.12' },
  { name: 'idle', address: '172.30.0.13' },
];

test('every node gets a route to the pods of every other, in any order', () => {
  const nodes = [
    { name: 'b', podCidr: '10.1.0.0/24' },
    { name: 'a', podCidr: '10.1.1.0/24' },
  ];
  const routes = podRoutes(nodes, machines);
  expect(routes).toHaveLength(2);
  expect(routes).toContainEqual({ machine: 'a', range: '10.1.0.0/24', via: '172.30.0.12' });
  expect(routes).toContainEqual({ machine: 'b', range: '10.1.1.0/24', via: '172.30.0.11' });
});

test('a node without a machine of the harness has no routes', () => {
  expect(
    podRoutes(
      [
        { name: 'elsewhere', podCidr: '10.1.0.0/24' },
        { name: 'a', podCidr: '10.1.1.0/24' },
      ],
      machines,
    ),
  ).toEqual([]);
});

test('the CNI configuration gives pods addresses of the range of their node', () => {
  const { cniVersion, plugins } = JSON.parse(cniConflist('10.1.2.0/24')) as {
    cniVersion: string;
    plugins: { type: string; ipam?: { ranges: { subnet: string }[][] } }[];
  };
  expect(cniVersion).toBe('1.0.0');
  expect(plugins.map(({ type }) => type)).toEqual(['bridge', 'portmap']);
  expect(plugins[0]?.ipam?.ranges).toEqual([[{ subnet: '10.1.2.0/24' }]]);
});

test('with ranges of both IP families it gives pods an address of each, and a route to everywhere', () => {
  const { plugins } = JSON.parse(cniConflist('10.1.2.0/24', 'fd00:1:2::/64')) as { plugins: { ipam?: object }[] };
  expect(plugins[0]?.ipam).toEqual({
    type: 'host-local',
    ranges: [[{ subnet: '10.1.2.0/24' }], [{ subnet: 'fd00:1:2::/64' }]],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
  });
});
