/** An endpoint of a PodMonitor, as far as Steward uses it. */
interface PodMonitorEndpoint {
  readonly path: string;
  readonly scheme: string;
  readonly interval: string;
  readonly honorLabels: boolean;
  readonly honorTimestamps: boolean;
  readonly followRedirects: boolean;
  readonly tlsConfig: {
    readonly ca?: { readonly secret: SecretKey };
    readonly cert: { readonly secret: SecretKey };
    readonly keySecret: SecretKey;
    readonly serverName?: string;
    readonly insecureSkipVerify?: boolean;
  };
  readonly relabelings: readonly Relabeling[];
  readonly metricRelabelings: readonly Relabeling[];
}

interface SecretKey {
  readonly name: string;
  readonly key: string;
}

interface Relabeling {
  readonly sourceLabels?: readonly string[];
  readonly regex?: string;
  readonly targetLabel?: string;
  readonly replacement?: string;
  readonly action?: string;
}

/** The spec of a PodMonitor as Steward writes it. */
export interface PodMonitorSpec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly sampleLimit: number;
  readonly labelLimit: number;
  readonly labelNameLengthLimit: number;
  readonly labelValueLengthLimit: number;
  readonly bodySizeLimit: string;
  readonly podMetricsEndpoints: readonly PodMonitorEndpoint[];
}

/** A pod as Prometheus discovers it. */
export interface DiscoveredPod {
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly containers: readonly string[];
}

/** What a PodMonitor is translated with. */
export interface PodMonitorJobs {
  readonly name: string;
  readonly spec: PodMonitorSpec;
  /** Those that its selector selects. */
  readonly pods: readonly DiscoveredPod[];
  /** The file with a value of a Secret. */
  readonly fileOf: (key: SecretKey) => string;
}

/**
 * The scrape configurations that the Prometheus Operator makes of a PodMonitor, one for each endpoint. Prometheus itself relabels what was
 * discovered: each container of each pod, none of which declares a port.
 */
export function podMonitorJobs({ name, spec, pods, fileOf }: PodMonitorJobs): readonly object[] {
  const targets = pods.flatMap((pod) =>
    pod.containers.map((container) => ({ targets: [pod.ip], labels: metaLabels(pod, container) })),
  );
  return spec.podMetricsEndpoints.map((endpoint, index) => ({
    job_name: `${name}/${index}`,
    metrics_path: endpoint.path,
    scheme: endpoint.scheme,
    // The tests do not wait for a minute. One scrape may take as long as the interval.
    scrape_interval: '5s',
    honor_labels: endpoint.honorLabels,
    honor_timestamps: endpoint.honorTimestamps,
    follow_redirects: endpoint.followRedirects,
    sample_limit: spec.sampleLimit,
    label_limit: spec.labelLimit,
    label_name_length_limit: spec.labelNameLengthLimit,
    label_value_length_limit: spec.labelValueLengthLimit,
    body_size_limit: spec.bodySizeLimit,
    tls_config: tlsConfig(endpoint, fileOf),
    static_configs: targets,
    relabel_configs: [namespaceOfPod, ...endpoint.relabelings.map(relabelConfig)],
    metric_relabel_configs: endpoint.metricRelabelings.map(relabelConfig),
  }));
}

/** One of those that the operator adds. */
const namespaceOfPod = { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' };

function metaLabels(
  { namespace, name, ip, labels }: DiscoveredPod,
  container: string,
): Readonly<Record<string, string>> {
  const ofPod = Object.entries(labels).map(([label, value]) => {
    return [`__meta_kubernetes_pod_label_${label.replaceAll(/[^A-Za-z0-9_]/g, '_')}`, value] as const;
  });
  return {
    ...Object.fromEntries(ofPod),
    __meta_kubernetes_namespace: namespace,
    __meta_kubernetes_pod_name: name,
    __meta_kubernetes_pod_ip: ip,
    __meta_kubernetes_pod_container_name: container,
  };
}

function tlsConfig({ tlsConfig: tls }: PodMonitorEndpoint, fileOf: PodMonitorJobs['fileOf']): object {
  return {
    ...(tls.ca !== undefined && { ca_file: fileOf(tls.ca.secret) }),
    cert_file: fileOf(tls.cert.secret),
    key_file: fileOf(tls.keySecret),
    ...(tls.serverName !== undefined && { server_name: tls.serverName }),
    ...(tls.insecureSkipVerify === true && { insecure_skip_verify: true }),
  };
}

function relabelConfig({ sourceLabels, regex, targetLabel, replacement, action }: Relabeling): object {
  return {
    ...(sourceLabels !== undefined && { source_labels: sourceLabels }),
    ...(regex !== undefined && { regex }),
    ...(targetLabel !== undefined && { target_label: targetLabel }),
    ...(replacement !== undefined && { replacement }),
    ...(action !== undefined && { action }),
  };
}
