import type { Dashboard } from './dashboard.ts';

/** All DataStores. */
export const dataStoresDashboard: Dashboard = {
  name: 'datastores',
  title: 'Steward / DataStores',
  choices: [],
  panels: [
    {
      ...{ title: 'Drivers and versions', description: '', type: 'table', unit: 'short' },
      queries: [{ expr: 'max by (name, driver, version) (steward_datastore_info)', legend: '' }],
    },
    {
      title: 'Ready',
      description: '1 is True, 0 is False, -1 is Unknown.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [{ expr: 'max by (name) (steward_datastore_condition{type="Ready"})', legend: '{{name}}' }],
    },
    {
      ...{ title: 'Tenants', description: '', type: 'timeseries', unit: 'short' },
      queries: [{ expr: 'max by (name) (steward_datastore_tenants)', legend: '{{name}}' }],
    },
    {
      ...{ title: 'Size', description: 'As the servers report it.', type: 'timeseries', unit: 'bytes' },
      queries: [{ expr: 'max by (name) (steward_datastore_size_bytes)', legend: '{{name}}' }],
    },
    {
      title: 'Largest tenants',
      description: 'What is counted differs between drivers: compare only tenants of one.',
      ...{ type: 'timeseries', unit: 'bytes' },
      queries: [{ expr: 'topk(10, steward:tenant_data_size_bytes)', legend: '{{namespace}}/{{name}}' }],
    },
    {
      title: 'Tenants with most keys',
      description: 'About the number of their objects.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [{ expr: 'topk(10, steward:tenant_data_keys)', legend: '{{namespace}}/{{name}}' }],
    },
    {
      title: 'Room for tenants',
      description: 'Only of DataStores with a capacity.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [{ expr: 'max by (name) (steward_datastore_available_tenants)', legend: '{{name}}' }],
    },
  ],
};
