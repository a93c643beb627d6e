import { describe, expect, test } from '@jest/globals';
import { newestMinor } from '../../kubeadm/versions.ts';
import { UsageError } from './flags.ts';
import { controllerNames } from '../chosen-controllers.ts';
import { readManagerSettings } from './manager-settings.ts';

const pod = { POD_NAMESPACE: 'steward-system', POD_NAME: 'steward-0' };

describe('Settings of the manager', () => {
  test('The namespace of the pod comes from the environment', () => {
    const settings = readManagerSettings(['--datastore=default'], pod);
    expect(settings).toMatchObject({
      podNamespace: 'steward-system',
      defaultDataStore: 'default',
      leaderElect: true,
      metrics: { host: '::', port: 8443 },
      insecureMetrics: false,
      profiling: false,
      tracing: undefined,
      probeIntervalMs: 30_000,
      sizeIntervalMs: 3_600_000,
      isolationIntervalMs: 21_600_000,
      webhooks: { host: '::', port: 9443 },
      reconcileTimeoutMs: 30_000,
      renewBeforeMs: 86_400_000,
      log: { level: 'info', format: 'json' },
    });
  });

  test('All controllers run by default', () => {
    expect([...readManagerSettings([], pod).controllers]).toEqual(controllerNames);
    const { controllers } = readManagerSettings(['--controllers=datastore,tenantcontrolplane'], pod);
    expect([...controllers]).toEqual(['datastore', 'tenantcontrolplane']);
  });

  test('One manager works at a time, unless they are to share the objects', () => {
    expect(readManagerSettings([], pod).shards).toBe(false);
    expect(readManagerSettings(['--shards'], pod).shards).toBe(true);
  });

  test('The newest supported minor of Kubernetes is the newest that is tested, or the given one', () => {
    expect(readManagerSettings([], pod).newestMinor).toBe(newestMinor);
    expect(readManagerSettings(['--max-kubernetes-minor=37'], pod).newestMinor).toBe(37);
  });

  test('Certificates may be renewed from half of their lifetime on', () => {
    expect(readManagerSettings(['--certificate-expiration-deadline=4380h'], pod).renewBeforeMs).toBe(4380 * 3_600_000);
  });

  test('Tenants are probed only for metrics that are served', () => {
    expect(readManagerSettings(['--tenant-probe-interval=1s'], pod).probeIntervalMs).toBe(1000);
    expect(readManagerSettings(['--tenant-probe-interval=0s'], pod).probeIntervalMs).toBeUndefined();
    expect(readManagerSettings(['--object-metrics=false'], pod).probeIntervalMs).toBeUndefined();
  });

  test('The data of tenants is measured only for metrics that are served', () => {
    expect(readManagerSettings(['--tenant-size-interval=1m'], pod).sizeIntervalMs).toBe(60_000);
    expect(readManagerSettings(['--tenant-size-interval=0s'], pod).sizeIntervalMs).toBeUndefined();
    expect(readManagerSettings(['--object-metrics=false'], pod).sizeIntervalMs).toBeUndefined();
  });

  test('Servers can be switched off and bound to an address', () => {
    const args = [
      '--metrics-bind-address=0',
      '--health-probe-bind-address=127.0.0.1:1',
      '--webhook-bind-address=[::1]:2',
    ];
    expect(readManagerSettings(args, pod)).toMatchObject({
      metrics: undefined,
      health: { host: '127.0.0.1', port: 1 },
      webhooks: { host: '::1', port: 2 },
    });
  });

  test('Metrics without authorization listen on localhost unless an address is given', () => {
    const open = ['--insecure-diagnostics'];
    expect(readManagerSettings(open, pod)).toMatchObject({
      metrics: { host: '127.0.0.1', port: 8080 },
      insecureMetrics: true,
    });
    expect(readManagerSettings([...open, '--metrics-bind-address=:8080'], pod).metrics).toEqual({
      host: '::',
      port: 8080,
    });
    expect(readManagerSettings(['--diagnostics-address=:9090'], pod).metrics?.port).toBe(9090);
  });

  test.each([
    [[], {}, 'expecting a value for --pod-namespace arg'],
    [['--certificate-expiration-deadline=7d'], pod, '"7d" is not a duration'],
    [['--certificate-expiration-deadline=1h'], pod, 'certificate expiration deadline must be at least 24 hours'],
    [['--certificate-expiration-deadline=8760h'], pod, 'takes at most 4380h, half of the year'],
    [['--certificate-expiration-deadline=4381h'], pod, 'takes at most 4380h, half of the year'],
    [['--isolation-verification-interval=59s'], pod, 'takes 0s or at least 1m, got 59s'],
    [['--tenant-probe-interval=500ms'], pod, 'takes 0s or at least 1s, got 500ms'],
    [['--tenant-size-interval=1s'], pod, '--tenant-size-interval takes 0s or at least 60s, got 1s'],
    [['--tracing-endpoint=collector:4318'], pod, 'takes an http:// or https:// URL, got "collector:4318"'],
    [['--tracing-endpoint=http://collector', '--tracing-percent=0'], pod, 'takes 1 to 100, got 0'],
    [['--shards', '--leader-elect=false'], pod, '--shards needs --leader-elect'],
    [['--profiling', '--insecure-diagnostics'], pod, 'cannot be combined with --insecure-diagnostics'],
    [['--metrics-bind-address=here'], pod, '--metrics-bind-address takes [host]:port'],
    [['--max-concurrent-tcp-reconciles=0'], pod, 'greater than 0'],
    [['--zap-log-level=loud'], pod, '--zap-log-level takes'],
    [['--max-kubernetes-minor=28'], pod, '--max-kubernetes-minor takes a whole number of at least 29, got 28'],
  ])('%j is refused', (args, environment, message) => {
    expect(() => readManagerSettings(args, environment)).toThrow(UsageError);
    expect(() => readManagerSettings(args, environment)).toThrow(message);
  });
});
