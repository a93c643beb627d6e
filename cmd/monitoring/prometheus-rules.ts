import type { Manifest } from '../../api/meta.ts';
import type { Alert } from './alerts.ts';
import { recordings } from './recordings.ts';

/** Where the page about an alert is, from the root of the repository. */
const page = 'docs/reference/generated/alerts.md';

/** Recorded series and alerts in the form of Prometheus' rule files. */
export function ruleGroups(alerts: readonly Alert[]): { readonly groups: readonly object[] } {
  const rules = alerts.map(({ name, expr, for: duration, severity, summary, meaning }) => ({
    alert: name,
    expr,
    for: duration,
    labels: { severity },
    annotations: { summary, description: meaning, runbook: `${page}#${name.toLowerCase()}` },
  }));
  const records = recordings.map(({ name, expr }) => ({ record: name, expr }));
  return {
    groups: [
      { name: 'steward-records', rules: records },
      { name: 'steward', rules },
    ],
  };
}

/** The same for the Prometheus Operator. */
export function prometheusRule(alerts: readonly Alert[]): Manifest {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'steward', namespace: 'steward-system' },
    spec: ruleGroups(alerts),
  };
}
