import { controllerNames } from '../../chosen-controllers.ts';
import { ofManager } from '../of-manager.ts';
import type { Dashboard } from './dashboard.ts';

/** Other controllers have metrics of these names, too. */
const ours = `{controller=~"${controllerNames.join('|')}"}`;
const quantile = (metric: string, by: string): string =>
  `histogram_quantile(0.99, sum by (le, ${by}) (rate(${metric}_bucket[5m]) ${ofManager.only}))`;

/** The manager itself. */
export const managerDashboard: Dashboard = {
  name: 'manager',
  title: 'Steward / Manager',
  choices: [],
  panels: [
    {
      ...{ title: 'Leaders', description: 'Exactly one should lead.', type: 'stat', unit: 'short' },
      queries: [{ expr: `sum(${ofManager.leading})`, legend: '' }],
    },
    {
      title: 'Defects',
      description: 'Errors that no code handled, and reconciles that crashed, in the last day.',
      ...{ type: 'stat', unit: 'short' },
      queries: [
        {
          expr: `sum(increase(steward_unhandled_errors_total[1d])) + sum(increase(controller_runtime_reconcile_panics_total${ours}[1d]))`,
          legend: '',
        },
      ],
    },
    {
      ...{ title: 'Reconciles', description: 'Per second.', type: 'timeseries', unit: 'ops' },
      queries: [
        {
          expr: `sum by (controller, result) (rate(controller_runtime_reconcile_total${ours}[5m]))`,
          legend: '{{controller}} {{result}}',
        },
      ],
    },
    {
      ...{ title: 'Duration of reconciles, 99th percentile', description: '', type: 'timeseries', unit: 's' },
      queries: [
        { expr: quantile('controller_runtime_reconcile_time_seconds', 'controller'), legend: '{{controller}}' },
      ],
    },
    {
      ...{ title: 'Waiting in queues', description: '', type: 'timeseries', unit: 'short' },
      queries: [{ expr: `sum by (controller) (workqueue_depth${ours})`, legend: '{{controller}}' }],
    },
    {
      ...{ title: 'Requests to API servers', description: 'Per second, by response.', type: 'timeseries', unit: 'ops' },
      queries: [
        {
          expr: `sum by (host, code) (rate(rest_client_requests_total[5m]) ${ofManager.only})`,
          legend: '{{host}} {{code}}',
        },
      ],
    },
    {
      ...{ title: 'Duration of admission, 99th percentile', description: '', type: 'timeseries', unit: 's' },
      queries: [{ expr: quantile('controller_runtime_webhook_latency_seconds', 'webhook'), legend: '{{webhook}}' }],
    },
    {
      ...{ title: 'Processor', description: 'Cores.', type: 'timeseries', unit: 'short' },
      queries: [
        { expr: `sum by (instance) (rate(process_cpu_seconds_total[5m]) ${ofManager.only})`, legend: '{{instance}}' },
      ],
    },
    {
      ...{ title: 'Memory', description: 'Resident.', type: 'timeseries', unit: 'bytes' },
      queries: [
        { expr: `sum by (instance) (process_resident_memory_bytes ${ofManager.only})`, legend: '{{instance}}' },
      ],
    },
    {
      title: 'Delay of the event loop',
      description: 'Above a tenth of a second, the manager answers late.',
      ...{ type: 'timeseries', unit: 's' },
      queries: [
        { expr: `max by (instance) (nodejs_eventloop_lag_p99_seconds ${ofManager.only})`, legend: '{{instance}}' },
      ],
    },
  ],
};
