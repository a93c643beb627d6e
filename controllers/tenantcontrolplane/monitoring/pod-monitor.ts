import { podMonitor as kind } from '../../../api/prometheus-operator/kinds.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import type { Manifest } from '../../../api/meta.ts';
import { containers, dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { componentPorts } from '../workload/component-ports.ts';
import { ownedManifest } from '../shared/owned-manifest.ts';
import { podSelector } from '../shared/pod-selector.ts';
import { keptGroups, keptMetrics, mostSamples } from './kept-metrics.ts';

/** Value of the component label on the PodMonitor. */
export const podMonitorComponent = 'pod-monitor';

/** How the components of control planes are scraped, for all tenants. */
export interface MonitoringSettings {
  /** Labels by which Prometheus selects PodMonitors. */
  readonly labels: Readonly<Record<string, string>>;
  /** How often, as Prometheus writes durations. */
  readonly interval: string;
}

type Monitored = keyof typeof keptMetrics;

/** The serving certificates of the others are self-signed. */
function tlsConfig(component: Monitored, secret: string): object {
  const keys = dataKeys.monitoringCertificate;
  return {
    cert: { secret: { name: secret, key: keys.certificate } },
    keySecret: { name: secret, key: keys.key },
    ...(component === 'apiServer'
      ? { ca: { secret: { name: secret, key: keys.authority } }, serverName: 'kubernetes.default.svc' }
      : { insecureSkipVerify: true }),
  };
}

/**
 * One target for each container, at the port of the component. Containers do not declare these ports, because that would replace the pods:
 * a container without ports is a target without one.
 */
function relabelings(component: Monitored, port: number): readonly object[] {
  const address = ['__meta_kubernetes_pod_ip'];
  return [
    { sourceLabels: ['__meta_kubernetes_pod_container_name'], regex: containers[component], action: 'keep' },
    {
      sourceLabels: address,
      regex: '([^:]+)',
      targetLabel: '__address__',
      replacement: `$1:${port}`,
      action: 'replace',
    },
    {
      sourceLabels: address,
      regex: '(.+:.+)',
      targetLabel: '__address__',
      replacement: `[$1]:${port}`,
      action: 'replace',
    },
    { targetLabel: 'job', replacement: containers[component], action: 'replace' },
    {
      sourceLabels: ['__meta_kubernetes_pod_label_steward_butlerlabs_dev_name'],
      targetLabel: 'tenant',
      action: 'replace',
    },
  ];
}

function endpoint(
  component: Monitored,
  port: number,
  { secret, interval }: { secret: string; interval: string },
): object {
  return {
    path: '/metrics',
    scheme: 'https',
    interval,
    // The answer is not trusted: it must not choose labels, times, or where Prometheus connects next.
    honorLabels: false,
    honorTimestamps: false,
    followRedirects: false,
    tlsConfig: tlsConfig(component, secret),
    relabelings: relabelings(component, port),
    metricRelabelings: [
      { sourceLabels: ['__name__'], regex: keptMetrics[component].join('|'), action: 'keep' },
      { sourceLabels: ['group'], regex: keptGroups, action: 'keep' },
    ],
  };
}

/** Lets the Prometheus Operator scrape kube-apiserver, kube-controller-manager and kube-scheduler of one tenant. */
export function podMonitor(tcp: TenantControlPlane, port: number, { labels, interval }: MonitoringSettings): Manifest {
  const { monitoringCertificate: secret, podMonitor: name } = tenantObjects(tcp.metadata.name);
  const how = { secret, interval };
  return ownedManifest(tcp, {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    component: podMonitorComponent,
    labels,
    body: {
      spec: {
        selector: { matchLabels: podSelector(tcp) },
        sampleLimit: mostSamples,
        labelLimit: 40,
        labelNameLengthLimit: 100,
        labelValueLengthLimit: 300,
        bodySizeLimit: '32MB',
        podMetricsEndpoints: [
          endpoint('apiServer', port, how),
          endpoint('controllerManager', componentPorts.controllerManager, how),
          endpoint('scheduler', componentPorts.scheduler, how),
        ],
      },
    },
  });
}
