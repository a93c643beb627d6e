import { activatorMetrics } from '../activator/activator-metrics.ts';
import { backupMetrics } from './backup-metrics.ts';
import { dataStoreMetrics } from './data-store-metrics.ts';
import { certificateMetrics } from './certificate-metrics.ts';
import { poolMetrics } from './pool-metrics.ts';
import { tenantMetrics } from './tenant-metrics.ts';
import { Metrics } from '../../runtime/observe/metrics.ts';
import type { Registry } from 'prom-client';
import type { ObjectMetric } from '../../runtime/observe/object-metrics.ts';

/** The names of metrics do not depend on it. */
const nothingKnown = {
  ...{ defaultDataStore: '', probes: () => new Map<never, never>() },
  ...{ dataSize: () => undefined, dataWrites: () => undefined, now: () => new Date(0) },
};

interface Row {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** Every metric of the manager itself, by name. They come into being when they are first used. */
export function managerMetrics(): readonly Row[] {
  const metrics = new Metrics({ process: false });
  metrics.ofController('').reconciles.owned?.(0);
  metrics.members(0);
  metrics.apply();
  metrics.admission();
  metrics.watchRunning(() => new Map());
  metrics.watchUnhandled(() => ({ rejections: 0, exceptions: 0 }));
  metrics.request({ verb: '', code: 0, host: '', seconds: 0 });
  metrics.leading('', false);
  metrics.certificateRead(true);
  metrics.phase('', '', 0);
  metrics.claimBound(0);
  return rowsIn(metrics.registry);
}

/** Every metric of the activator, by name. */
export function metricsOfActivator(): readonly Row[] {
  return rowsIn(activatorMetrics(() => ({ held: 0, open: 0 })).registry);
}

function rowsIn(registry: Pick<Registry, 'getMetricsAsArray'>): readonly Row[] {
  return registry
    .getMetricsAsArray()
    .map((metric) => ({ name: metric.name, type: String(metric.type), labels: labelsOf(metric), help: metric.help }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** prom-client keeps the names of labels, but not in its types. */
function labelsOf(metric: object): readonly string[] {
  return 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];
}

/** The names of all metrics but those of prom-client about the process. */
export function metricNames(): readonly string[] {
  return [
    ...tenantMetrics(nothingKnown),
    ...certificateMetrics,
    ...dataStoreMetrics,
    ...backupMetrics,
    ...poolMetrics,
    ...managerMetrics(),
    ...metricsOfActivator(),
  ].map(({ name }) => name);
}

function rowsOf<T>(metrics: readonly ObjectMetric<T>[], named: readonly string[]): readonly Row[] {
  return metrics.map(({ name, type = 'gauge', labels, help }) => ({ name, type, labels: [...named, ...labels], help }));
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ name, type, labels, help }) => {
    const list = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${list} | ${help} |`;
  });
  return ['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

/** The reference page of all metrics, in Markdown. */
export function metricsPage(): string {
  const sections = [
    '# Metrics',
    'How to scrape them, and what to ask: [Observe Steward](../../how-to/observe.md).',
    '## TenantControlPlanes',
    'Omitted with `--object-metrics=false`. A TenantControlPlane has at most 26 series: 16 of its own, and one for each of its Secrets with a certificate.',
    table([
      ...rowsOf(tenantMetrics(nothingKnown), ['namespace', 'name']),
      ...rowsOf(certificateMetrics, ['namespace', 'name', 'secret']),
    ]),
    '## DataStores',
    'Omitted with `--object-metrics=false`.',
    table(rowsOf(dataStoreMetrics, ['name'])),
    '## Backups',
    'Omitted with `--object-metrics=false` or without the feature gate `Backups`. `name` is the TenantControlPlane; each has three series at most, of its oldest BackupPolicy.',
    table(rowsOf(backupMetrics, ['namespace', 'name'])),
    '## Pools of prepared control planes',
    'Omitted with `--object-metrics=false`. `name` is the ControlPlanePool. How long claims wait is a histogram of [the manager](#the-manager).',
    table(rowsOf(poolMetrics, ['namespace', 'name'])),
    '## The manager',
    'Names that begin with `controller_runtime`, `workqueue`, `rest_client`, `leader_election` and `certwatcher` mean what they mean for other controllers. `process_` and `nodejs_` are those of prom-client: memory, processor time and event loop.',
    table(managerMetrics()),
    '## The activator',
    'At `/metrics` of port 8081 of its pods, over plain HTTP. Each pod counts its own connections.',
    table(metricsOfActivator()),
  ];
  return `${['<!-- Made by `npm run gen`; do not edit. -->', ...sections].join('\n\n')}\n`;
}
