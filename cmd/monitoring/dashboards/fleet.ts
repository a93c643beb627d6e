import type { Dashboard } from './dashboard.ts';

const condition = (type: string): string => `max by (namespace, name) (steward_tenant_condition{type="${type}"})`;

/** All control planes together. */
export const fleetDashboard: Dashboard = {
  name: 'fleet',
  title: 'Steward / Control planes',
  choices: [],
  panels: [
    {
      ...{ title: 'Control planes', description: '', type: 'stat', unit: 'short' },
      queries: [{ expr: `count(max by (namespace, name) (steward_tenant_info))`, legend: '' }],
    },
    {
      ...{ title: 'Serving', description: 'Their API servers answer.', type: 'stat', unit: 'short' },
      queries: [{ expr: `count(${condition('ControlPlaneAvailable')} == 1) or vector(0)`, legend: '' }],
    },
    {
      title: 'Not serving',
      description: 'Those that sleep, and those that are being created or deleted, are among them.',
      ...{ type: 'stat', unit: 'short' },
      queries: [{ expr: `count(${condition('ControlPlaneAvailable')} < 1) or vector(0)`, legend: '' }],
    },
    {
      title: 'Sleeping',
      description: 'By schedules, for lack of use, by an annotation or with 0 replicas.',
      ...{ type: 'stat', unit: 'short' },
      queries: [{ expr: 'sum(max by (namespace, name) (steward_tenant_sleeping)) or vector(0)', legend: '' }],
    },
    {
      ...{ title: 'Upgrades held', description: 'UpgradeAllowed is False.', type: 'stat', unit: 'short' },
      queries: [{ expr: `count(${condition('UpgradeAllowed')} == 0) or vector(0)`, legend: '' }],
    },
    {
      title: 'Control planes that are not Ready',
      description: 'The message of the condition Ready says why.',
      ...{ type: 'table', unit: 'short' },
      queries: [{ expr: `${condition('Ready')} < 1`, legend: '' }],
    },
    {
      title: 'Least available control planes',
      description: 'Share of the probes of an hour that found the API server ready; the ten lowest.',
      ...{ type: 'timeseries', unit: 'percentunit' },
      queries: [
        { expr: 'bottomk(10, steward:tenant_availability:avg1h{path="service"})', legend: '{{namespace}}/{{name}}' },
      ],
    },
    {
      title: 'Slowest control planes',
      description: 'Duration of probes in five minutes; the ten highest.',
      ...{ type: 'timeseries', unit: 's' },
      queries: [
        {
          expr: 'topk(10, steward:tenant_probe_duration_seconds:avg5m{path="service"})',
          legend: '{{namespace}}/{{name}}',
        },
      ],
    },
    {
      ...{ title: 'Versions of Kubernetes', description: '', type: 'timeseries', unit: 'short' },
      queries: [
        { expr: 'count by (version) (max by (namespace, name, version) (steward_tenant_info))', legend: '{{version}}' },
      ],
    },
    {
      ...{ title: 'Control planes by DataStore', description: '', type: 'timeseries', unit: 'short' },
      queries: [
        {
          expr: 'count by (datastore) (max by (namespace, name, datastore) (steward_tenant_info))',
          legend: '{{datastore}}',
        },
      ],
    },
    {
      ...{ title: 'Pods', description: 'Of all control planes together.', type: 'timeseries', unit: 'short' },
      queries: [
        {
          expr: 'sum by (state) (max by (namespace, name, state) (steward_tenant_replicas))',
          legend: '{{state}}',
        },
      ],
    },
    {
      title: 'Share of the time asleep',
      description: 'Of an hour, of the control planes that have or had `spec.sleep`; the ten highest.',
      ...{ type: 'timeseries', unit: 'percentunit' },
      queries: [
        {
          expr: 'topk(10, max by (namespace, name) (rate(steward_tenant_asleep_seconds_total[1h])))',
          legend: '{{namespace}}/{{name}}',
        },
      ],
    },
    {
      title: 'Not used for the longest time',
      description: 'Of the control planes with `spec.sleep.afterIdle`, also while they sleep; the ten highest.',
      ...{ type: 'timeseries', unit: 's' },
      queries: [
        {
          expr: 'topk(10, time() - max by (namespace, name) (steward_tenant_idle_since_timestamp_seconds))',
          legend: '{{namespace}}/{{name}}',
        },
      ],
    },
    {
      title: 'Control planes in pools',
      description: 'In reserve, ready to be claimed or being prepared, and those that were claimed.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [
        {
          expr: 'sum by (state) (max by (namespace, name, state) (steward_pool_control_planes))',
          legend: '{{state}}',
        },
        { expr: 'sum(max by (namespace, name) (steward_pool_wanted))', legend: 'wanted' },
      ],
    },
    {
      title: 'Refills of pools',
      description: 'Control planes that pools created within an hour; the ten highest.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [
        {
          expr: 'topk(10, max by (namespace, name) (increase(steward_pool_created_total[1h])))',
          legend: '{{namespace}}/{{name}}',
        },
      ],
    },
    {
      title: 'Time from claim to control plane',
      description:
        'Of the claims of ten minutes. Creation times have whole seconds, so that it is up to a second less.',
      ...{ type: 'timeseries', unit: 's' },
      queries: [0.5, 0.99].map((share) => ({
        expr: `histogram_quantile(${share}, sum by (le) (rate(steward_claim_bound_seconds_bucket[10m])))`,
        legend: `p${share * 100}`,
      })),
    },
    {
      title: 'Claims that wait',
      description: 'By the reason of their condition Bound.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [
        {
          expr: 'sum by (reason) (max by (namespace, name, reason) (steward_pool_claims_waiting))',
          legend: '{{reason}}',
        },
      ],
    },
    {
      title: 'Pools that cannot be refilled',
      description: 'The message of the condition Ready says why.',
      ...{ type: 'table', unit: 'short' },
      queries: [{ expr: 'max by (namespace, name, reason) (steward_pool_refill_blocked)', legend: '' }],
    },
    {
      title: 'Use is not known',
      description: 'Control planes with `spec.sleep.afterIdle` that stay awake because their metrics cannot be read.',
      ...{ type: 'table', unit: 'short' },
      queries: [{ expr: 'max by (namespace, name) (steward_tenant_use_unknown) == 1', legend: '' }],
    },
    {
      title: 'Wakes by cause',
      description: 'In an hour, of all control planes together.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [
        {
          expr: 'sum by (cause) (max by (namespace, name, cause) (increase(steward_tenant_wakes_total[1h])))',
          legend: '{{cause}}',
        },
      ],
    },
    {
      title: 'Wait of callers',
      description:
        'Of those who came while no pod was ready: from the acceptance of a connection by the activator until it is passed on.',
      ...{ type: 'timeseries', unit: 's' },
      queries: ['0.5', '0.95'].map((quantile) => ({
        expr: `histogram_quantile(${quantile}, sum by (le) (rate(steward_activator_wait_seconds_bucket[15m])))`,
        legend: `quantile ${quantile}`,
      })),
    },
    {
      title: 'Connections of the activator',
      description: 'Held are those whose callers wait for a wake; open are also those that were passed on.',
      ...{ type: 'timeseries', unit: 'short' },
      queries: [
        { expr: 'sum(steward_activator_held_connections)', legend: 'held' },
        { expr: 'sum(steward_activator_open_connections)', legend: 'open' },
      ],
    },
    {
      title: 'Refused connections of the activator',
      description: 'A second, by reason. None of them wakes a control plane up.',
      ...{ type: 'timeseries', unit: 'cps' },
      queries: [
        {
          expr: 'sum by (outcome) (rate(steward_activator_connections_total{outcome!~"Passed|Gone"}[5m]))',
          legend: '{{outcome}}',
        },
      ],
    },
    {
      title: 'Time until the next certificate expires',
      description: 'Certificates are renewed a day before, CAs are not.',
      ...{ type: 'timeseries', unit: 's' },
      queries: [{ expr: 'min(steward_certificate_expiry_timestamp_seconds) - time()', legend: 'next' }],
    },
  ],
};
