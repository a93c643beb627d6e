import { expect, test } from '@jest/globals';

import { managerMetrics, metricsOfActivator, metricsPage } from './metrics-page.ts';

test('the page lists metrics of tenants, datastores and the manager with their labels', () => {
  const page = metricsPage();
  expect(page).toContain('| `steward_tenant_replicas` | gauge | `namespace`, `name`, `state` |');
  expect(page).toContain('| `steward_datastore_tenants` | gauge | `name` |');
  expect(page).toContain('| `steward_activator_connections_total` | counter | `outcome` |');
  expect(page).toContain('| `controller_runtime_reconcile_total` | counter | `controller`, `result` |');
});

test.each([...managerMetrics(), ...metricsOfActivator()])('$name has a help text, without a full stop', ({ help }) => {
  expect(help).toMatch(/^[A-Z].+[^.]$/);
});
