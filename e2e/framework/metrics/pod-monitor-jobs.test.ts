import { expect, test } from '@jest/globals';

import { podMonitorJobs } from './pod-monitor-jobs.ts';

const key = (name: string) => ({ name: 'credentials', key: name });

test('each endpoint of a PodMonitor becomes a scrape configuration with a target for each container', () => {
  const [job, ...others] = podMonitorJobs({
    name: 'team/shop',
    spec: {
      selector: { matchLabels: { 'steward.butlerlabs.dev/name': 'shop' } },
      ...{ sampleLimit: 10, labelLimit: 3, labelNameLengthLimit: 4, labelValueLengthLimit: 5, bodySizeLimit: '1MB' },
      podMetricsEndpoints: [
        {
          ...{ path: '/metrics', scheme: 'https', interval: '60s' },
          ...{ honorLabels: false, honorTimestamps: false, followRedirects: false },
          tlsConfig: {
            ca: { secret: key('ca.crt') },
            cert: { secret: key('tls.crt') },
            keySecret: key('tls.key'),
            serverName: 'kubernetes',
          },
          relabelings: [{ targetLabel: 'job', replacement: 'kube-apiserver', action: 'replace' }],
          metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'a|b', action: 'keep' }],
        },
      ],
    },
    pods: [
      {
        ...{ namespace: 'team', name: 'shop-1', ip: '10.0.0.7' },
        ...{ labels: { 'steward.butlerlabs.dev/name': 'shop' }, containers: ['kube-apiserver', 'kube-scheduler'] },
      },
    ],
    fileOf: ({ key: name }) => `/files/${name}`,
  });
  expect(others).toEqual([]);
  const target = (container: string) => ({
    targets: ['10.0.0.7'],
    labels: {
      __meta_kubernetes_pod_label_steward_butlerlabs_dev_name: 'shop',
      __meta_kubernetes_namespace: 'team',
      __meta_kubernetes_pod_name: 'shop-1',
      __meta_kubernetes_pod_ip: '10.0.0.7',
      __meta_kubernetes_pod_container_name: container,
    },
  });
  expect(job).toMatchObject({
    job_name: 'team/shop/0',
    sample_limit: 10,
    body_size_limit: '1MB',
    follow_redirects: false,
    tls_config: {
      ...{
        ca_file: '/files/ca.crt',
        cert_file: '/files/tls.crt',
        key_file: '/files/tls.key',
        server_name: 'kubernetes',
      },
    },
    static_configs: [target('kube-apiserver'), target('kube-scheduler')],
    relabel_configs: [
      { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
      { target_label: 'job', replacement: 'kube-apiserver', action: 'replace' },
    ],
    metric_relabel_configs: [{ source_labels: ['__name__'], regex: 'a|b', action: 'keep' }],
  });
});
