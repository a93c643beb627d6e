import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { RuleTester } from '../../testing/servers/prometheus/rule-tester.ts';
import { ruleGroups } from './prometheus-rules.ts';
import { recordings } from './recordings.ts';

const minutes = 120;

let rules: RuleTester;
beforeAll(async () => {
  rules = await RuleTester.of(ruleGroups([]), minutes);
}, 120_000);
afterAll(() => rules[Symbol.asyncDispose]());

const info = (namespace: string, name: string): Readonly<Record<string, number>> => ({
  [`steward_tenant_info{namespace="${namespace}",name="${name}",version="v1.36.3",datastore="default"}`]: 1,
});
const container = (metric: string, pod: string, name: string): string =>
  `${metric}{namespace="team",pod="${pod}",container="${name}",cpu="total"}`;

describe('Recorded series', () => {
  test('have names of their own, in the form level:metric:operation', () => {
    const names = recordings.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^steward:[a-z_]+(:[a-z0-9]+)?$/);
  });

  test('add up what the containers of a control plane use, and nothing else', () =>
    rules.expect(
      {
        ...info('team', 'shop'),
        ...info('team', 'shop-eu'),
        [container('container_memory_working_set_bytes', 'shop-5d9f8c7b6-x2x4z', 'kube-apiserver')]: 300,
        [container('container_memory_working_set_bytes', 'shop-5d9f8c7b6-x2x4z', 'kube-scheduler')]: 50,
        // The sum of a pod, a tenant whose name goes on, a pod of somebody else, and one of another namespace.
        [container('container_memory_working_set_bytes', 'shop-5d9f8c7b6-x2x4z', '')]: 350,
        [container('container_memory_working_set_bytes', 'shop-eu-7c6d5b4f9-abcde', 'kube-apiserver')]: 70,
        [container('container_memory_working_set_bytes', 'website-7c6d5b4f9-abcde', 'web')]: 1000,
        'container_memory_working_set_bytes{namespace="other",pod="shop-5d9f8c7b6-x2x4z",container="web"}': 9,
      },
      'steward:tenant_memory_bytes',
      {
        'steward:tenant_memory_bytes{namespace="team",name="shop"}': 350,
        'steward:tenant_memory_bytes{namespace="team",name="shop-eu"}': 70,
      },
    ));

  test('record the cores in use, from which the CPU hours of a day follow', () =>
    rules.expect(
      {
        ...info('team', 'shop'),
        [container('container_cpu_usage_seconds_total', 'shop-5d9f8c7b6-x2x4z', 'kube-apiserver')]: `0+30x${minutes}`,
      },
      'avg_over_time(steward:tenant_cpu_seconds:rate5m[1h])',
      { '{namespace="team",name="shop"}': 0.5 },
    ));

  test('record what a tenant stores once, whichever manager measured it', () =>
    rules.expect(
      {
        'steward_tenant_data_size_bytes{namespace="team",name="shop",instance="a"}': 300,
        'steward_tenant_data_size_bytes{namespace="team",name="shop",instance="b"}': 200,
        'steward_tenant_data_size_bytes{namespace="team",name="shop-eu",instance="a"}': 7,
      },
      'steward:tenant_data_size_bytes',
      {
        'steward:tenant_data_size_bytes{namespace="team",name="shop"}': 300,
        'steward:tenant_data_size_bytes{namespace="team",name="shop-eu"}': 7,
      },
    ));

  test.each(['data_keys', 'data_content_bytes'])(
    'record the %s of a tenant once, whichever manager measured it',
    (of) =>
      rules.expect(
        {
          [`steward_tenant_${of}{namespace="team",name="shop",instance="a"}`]: 300,
          [`steward_tenant_${of}{namespace="team",name="shop",instance="b"}`]: 200,
        },
        `steward:tenant_${of}`,
        { [`steward:tenant_${of}{namespace="team",name="shop"}`]: 300 },
      ),
  );

  test('record how available a control plane was', () =>
    rules.expect(
      {
        'steward_tenant_probe_success{namespace="team",name="shop",path="service",instance="a"}':
          '1 1 1 0'.repeat(1) + ' 1 1 1 0'.repeat(minutes / 4),
      },
      'round(steward:tenant_availability:avg1h, 0.01)',
      { '{namespace="team",name="shop",path="service"}': 0.75 },
    ));
});
