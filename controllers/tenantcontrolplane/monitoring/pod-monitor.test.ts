import { expect, test } from '@jest/globals';

import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { keptGroups, keptMetrics } from './kept-metrics.ts';
import { podMonitor } from './pod-monitor.ts';

interface Endpoint {
  readonly tlsConfig: Readonly<Record<string, unknown>>;
  readonly relabelings: readonly {
    readonly regex?: string;
    readonly targetLabel?: string;
    readonly replacement?: string;
  }[];
}

interface Monitor {
  readonly spec: { readonly selector: unknown; readonly podMetricsEndpoints: readonly Endpoint[] };
}

const monitor = podMonitor(tenantControlPlaneWith(), 6443, { labels: {}, interval: '60s' }) as unknown as Monitor;
const endpoints = monitor.spec.podMetricsEndpoints;

/** The address that relabeling makes of that of a pod. */
function addressOf({ relabelings }: Endpoint, ip: string): string | undefined {
  const rules = relabelings.filter(({ targetLabel }) => targetLabel === '__address__');
  const matching = rules.filter(({ regex = '' }) => new RegExp(`^${regex}$`).test(ip));
  expect(matching.length).toBe(1);
  return matching[0]?.replacement?.replace('$1', ip);
}

test('each component is scraped at its port, over either family of addresses', () => {
  expect(endpoints.map((endpoint) => addressOf(endpoint, '10.0.0.7'))).toEqual([
    '10.0.0.7:6443',
    '10.0.0.7:10257',
    '10.0.0.7:10259',
  ]);
  expect(endpoints.map((endpoint) => addressOf(endpoint, 'fd00::7'))).toEqual([
    '[fd00::7]:6443',
    '[fd00::7]:10257',
    '[fd00::7]:10259',
  ]);
});

test('only the API server, whose certificate the tenant has signed, is verified', () => {
  const [apiServer, ...others] = endpoints.map(({ tlsConfig }) => tlsConfig);
  expect(apiServer).toMatchObject({ serverName: 'kubernetes.default.svc' });
  expect(apiServer).not.toHaveProperty('insecureSkipVerify');
  for (const one of others) expect(one).toMatchObject({ insecureSkipVerify: true });
});

test('a control plane cannot choose labels or times, send Prometheus elsewhere, or flood it', () => {
  for (const endpoint of endpoints)
    expect(endpoint).toMatchObject({ honorLabels: false, honorTimestamps: false, followRedirects: false });
  expect(monitor.spec).toMatchObject({ sampleLimit: 5000, bodySizeLimit: '32MB' });
});

test.each(['steward_tenant_info', 'ALERTS', 'up', 'container_memory_working_set_bytes', 'apiserver_request_total_x'])(
  'the name %s is not kept of any component, so that none forges the series of others',
  (name) => {
    for (const kept of Object.values(keptMetrics)) expect(name).not.toMatch(new RegExp(`^(?:${kept.join('|')})$`));
  },
);

test('requests for kinds of Kubernetes are kept, and those for kinds of a tenant are not', () => {
  const groups = new RegExp(`^(?:${keptGroups})$`);
  for (const group of ['', 'apps', 'rbac.authorization.k8s.io', 'admissionregistration.k8s.io'])
    expect(group).toMatch(groups);
  for (const group of ['example.com', 'cert-manager.io', 'k8s.io.example.com']) expect(group).not.toMatch(groups);
});
