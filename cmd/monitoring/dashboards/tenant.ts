import type { Dashboard } from './dashboard.ts';

const one = 'namespace="$namespace",name="$name"';

/** One control plane. */
export const tenantDashboard: Dashboard = {
  name: 'tenant',
  title: 'Steward / Control plane',
  choices: [
    { name: 'namespace', query: 'label_values(steward_tenant_info, namespace)' },
    { name: 'name', query: 'label_values(steward_tenant_info{namespace="$namespace"}, name)' },
  ],
  panels: [
    {
      ...{ title: 'Version and DataStore', description: '', type: 'table', unit: 'short' },
      queries: [{ expr: `max by (version, datastore) (steward_tenant_info{${one}})`, legend: '' }],
    },
    {
      title: 'Conditions',
      description: '1 is True, 0 is False, -1 is Unknown. Migrating, Rotating and Paused are False normally.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [{ expr: `max by (type) (steward_tenant_condition{${one}})`, legend: '{{type}}' }],
    },
    {
      title: 'Availability',
      description:
        'Share of the probes of five minutes that found the API server ready, through its Service and at its endpoint.',
      ...{ type: 'timeseries', unit: 'percentunit' },
      queries: [{ expr: `steward:tenant_availability:avg5m{${one}}`, legend: '{{path}}' }],
    },
    {
      title: 'Duration of a probe',
      description: 'A new connection and one request.',
      ...{ type: 'timeseries', unit: 's' },
      queries: [{ expr: `steward:tenant_probe_duration_seconds:avg5m{${one}}`, legend: '{{path}}' }],
    },
    {
      ...{ title: 'Pods', description: '', type: 'timeseries', unit: 'short' },
      queries: [{ expr: `max by (state) (steward_tenant_replicas{${one}})`, legend: '{{state}}' }],
    },
    {
      title: 'Asleep and not used',
      description: 'For how long, if it has `spec.sleep`; the second only with `spec.sleep.afterIdle`.',
      ...{ type: 'timeseries', unit: 's' },
      queries: [
        { expr: `max(steward_tenant_asleep_seconds_total{${one}})`, legend: 'asleep, in total' },
        { expr: `time() - max(steward_tenant_idle_since_timestamp_seconds{${one}})`, legend: 'not used' },
      ],
    },
    {
      title: 'Data',
      description:
        'What the tenant occupies in its DataStores, and the part of it that is content: keys and their newest values. Measured every hour.',
      ...{ type: 'timeseries', unit: 'bytes' },
      queries: [
        { expr: `steward:tenant_data_size_bytes{${one}}`, legend: 'data' },
        { expr: `steward:tenant_data_content_bytes{${one}}`, legend: 'content' },
      ],
    },
    {
      title: 'Keys',
      description: 'About the number of objects of the tenant, measured every hour.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [{ expr: `steward:tenant_data_keys{${one}}`, legend: 'keys' }],
    },
    {
      ...{ title: 'Time until certificates expire', description: 'By Secret.', type: 'timeseries', unit: 's' },
      queries: [
        {
          expr: `min by (secret) (steward_certificate_expiry_timestamp_seconds{${one}}) - time()`,
          legend: '{{secret}}',
        },
      ],
    },
    {
      title: 'Keys left to migrate',
      description: 'Only during a migration to another DataStore.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [{ expr: `max(steward_tenant_migration_remaining_keys{${one}}) or vector(0)`, legend: 'keys' }],
    },
  ],
};
