/** A series that Prometheus computes from others, so that dashboards and alerts do not do it again and again. */
export interface Recording {
  readonly name: string;
  readonly expr: string;
  /** What its value is, for people. */
  readonly meaning: string;
}

const labels = 'namespace, name, path';

const availability = (window: string): Recording => ({
  name: `steward:tenant_availability:avg${window}`,
  expr: `max by (${labels}) (avg_over_time(steward_tenant_probe_success[${window}]))`,
  meaning: `Share of the probes of the last ${window} that found the API server ready`,
});

/** The pods of a Deployment are named after it, and that of a control plane after its TenantControlPlane. */
const ofTenants = (usage: string): string =>
  `sum by (namespace, name) (label_replace(${usage}, "name", "$1", "pod", "(.+)-[a-z0-9]+-[a-z0-9]{5}")) and on (namespace, name) steward_tenant_info`;
/** As the kubelet reports it for each container, without the sum of a pod. */
const containers = '{container!="",container!="POD"}';

/**
 * Usage for charge-back, and the series from which an objective for availability is calculated:
 * `avg_over_time(steward:tenant_availability:avg1h[30d])`.
 */
export const recordings: readonly Recording[] = [
  availability('5m'),
  availability('1h'),
  {
    name: 'steward:tenant_probe_duration_seconds:avg5m',
    expr: `max by (${labels}) (avg_over_time(steward_tenant_probe_duration_seconds[5m]))`,
    meaning: 'How long probes of the last 5m took on average',
  },
  {
    name: 'steward:tenant_cpu_seconds:rate5m',
    expr: ofTenants(`rate(container_cpu_usage_seconds_total${containers}[5m])`),
    meaning: 'Cores that the pods of a control plane use; needs the metrics of the kubelets (cAdvisor)',
  },
  {
    name: 'steward:tenant_memory_bytes',
    expr: ofTenants(`container_memory_working_set_bytes${containers}`),
    meaning: 'Memory that the pods of a control plane use; needs the metrics of the kubelets (cAdvisor)',
  },
  {
    name: 'steward:tenant_data_size_bytes',
    expr: 'max by (namespace, name) (steward_tenant_data_size_bytes)',
    meaning: 'What a tenant occupies in its DataStores, as last measured by any manager',
  },
  {
    name: 'steward:tenant_data_keys',
    expr: 'max by (namespace, name) (steward_tenant_data_keys)',
    meaning:
      'Keys that a tenant stores in its DataStores, about the number of its objects, as last measured by any manager',
  },
  {
    name: 'steward:tenant_data_content_bytes',
    expr: 'max by (namespace, name) (steward_tenant_data_content_bytes)',
    meaning: 'Bytes of these keys and their newest values, as last measured by any manager',
  },
];
