import { expect, test } from '@jest/globals';
import { Metrics } from './metrics.ts';

test('a controller has the metrics of controller-runtime and client-go', async () => {
  const metrics = new Metrics({ process: false });
  const { reconciles, queue } = metrics.ofController('tenant');
  reconciles.limit(8);
  reconciles.began();
  reconciles.ended('requeue_after', 0.2);
  reconciles.failed({ terminal: true, timedOut: false });
  queue.added();
  queue.depth(-100, 3);
  queue.waited(0.5);
  metrics.watchRunning(() => new Map([['tenant', [1, 4]]]));
  const text = await metrics.registry.metrics();
  for (const line of [
    'controller_runtime_reconcile_total{controller="tenant",result="requeue_after"} 1',
    'controller_runtime_reconcile_total{controller="tenant",result="success"} 0',
    'controller_runtime_reconcile_errors_total{controller="tenant"} 1',
    'controller_runtime_terminal_reconcile_errors_total{controller="tenant"} 1',
    'controller_runtime_reconcile_panics_total{controller="tenant"} 0',
    'controller_runtime_reconcile_timeouts_total{controller="tenant"} 0',
    'controller_runtime_reconcile_time_seconds_bucket{le="0.2",controller="tenant"} 1',
    'controller_runtime_max_concurrent_reconciles{controller="tenant"} 8',
    'controller_runtime_active_workers{controller="tenant"} 0',
    'workqueue_depth{name="tenant",controller="tenant",priority="-100"} 3',
    'workqueue_adds_total{name="tenant",controller="tenant"} 1',
    'workqueue_retries_total{name="tenant",controller="tenant"} 0',
    'workqueue_queue_duration_seconds_bucket{le="1e-8",name="tenant",controller="tenant"} 0',
    'workqueue_queue_duration_seconds_bucket{le="1000",name="tenant",controller="tenant"} 1',
    'workqueue_unfinished_work_seconds{name="tenant",controller="tenant"} 5',
    'workqueue_longest_running_processor_seconds{name="tenant",controller="tenant"} 4',
  ]) {
    expect(text).toContain(line);
  }
});

test('clients, leader election, certificates, admission and applied sets have metrics', async () => {
  const metrics = new Metrics({ process: false });
  metrics.request({ verb: 'get', code: 200, host: 'tenant', seconds: 0.01 });
  metrics.request({ verb: 'get', code: '<error>', host: 'tenant', seconds: 0.01 });
  metrics.leading('steward.butlerlabs.dev', true);
  metrics.certificateRead(true);
  metrics.certificateRead(false);
  const end = metrics.admission().began('/validate');
  end(200);
  metrics.admission().panicked('/validate');
  metrics.apply().drifted('deployment', 'Secret');
  metrics.phase('tenant', 'pki', 0.1);
  metrics.claimBound(0.6);
  const text = await metrics.registry.metrics();
  for (const line of [
    'rest_client_requests_total{code="200",method="GET",host="tenant"} 1',
    'rest_client_requests_total{code="<error>",method="GET",host="tenant"} 1',
    'rest_client_request_duration_seconds_count{verb="GET",host="tenant"} 2',
    'leader_election_master_status{name="steward.butlerlabs.dev"} 1',
    'certwatcher_read_certificate_total 2',
    'certwatcher_read_certificate_errors_total 1',
    'controller_runtime_webhook_requests_total{webhook="/validate",code="200"} 1',
    'controller_runtime_webhook_requests_in_flight{webhook="/validate"} 0',
    'controller_runtime_webhook_latency_seconds_count{webhook="/validate"} 1',
    'steward_claim_bound_seconds_bucket{le="0.5"} 0',
    'steward_claim_bound_seconds_bucket{le="0.75"} 1',
    'controller_runtime_webhook_panics_total{webhook="/validate"} 1',
    'steward_apply_drift_total{component="deployment",kind="Secret"} 1',
    'steward_phase_duration_seconds_count{controller="tenant",phase="pki"} 1',
  ]) {
    expect(text).toContain(line);
  }
});

test('the process itself has metrics, including event-loop lag', async () => {
  const text = await new Metrics().registry.metrics();
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
});
