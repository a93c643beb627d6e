import type { Dashboard } from './dashboard.ts';
import { dataStoresDashboard } from './data-stores.ts';
import { fleetDashboard } from './fleet.ts';
import { managerDashboard } from './manager.ts';
import { tenantDashboard } from './tenant.ts';

/** The dashboards for Grafana. */
export const dashboards: readonly Dashboard[] = [
  fleetDashboard,
  tenantDashboard,
  dataStoresDashboard,
  managerDashboard,
];
