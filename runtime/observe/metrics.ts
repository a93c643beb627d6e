import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { AdmissionMetrics } from '../admission/admission-server.ts';
import type { ApplyMetrics } from '../apply/applier.ts';
import type { ReconcileMetrics } from '../reconcile/controller-runner.ts';
import type { QueueMetrics } from '../queue/queue.ts';
import { ObjectCounter } from './object-counter.ts';
import { ObjectGauge } from './object-metrics.ts';
import type { ObjectMetric, ObjectSource } from './object-metrics.ts';

/** controller-runtime's buckets for reconcile times, in seconds. */
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75,
  2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** client-go's buckets for queues: 10 ns · 10ⁿ, twelve of them, in seconds. */
const queueBuckets = Array.from({ length: 12 }, (_, n) => Number((1e-8 * 10 ** n).toPrecision(1)));

/** From what is prepared already to what has to start first, in seconds. */
const claimBuckets = [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600];
const claimHelp =
  'Time from the creation of a ControlPlaneClaim until it has a control plane and its kubeconfig; up to a second too long, because creation times have whole seconds';

/**
 * The process's metrics in a registry of their own, under the names that controller-runtime and client-go use, so that
 * existing dashboards work. Only what `watchObjects` adds is labeled by object.
 */
export class Metrics {
  readonly registry: Registry;
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();

  /** `process: false` leaves out memory, CPU and event-loop lag, whose collection costs a little all the time. */
  constructor(options: { readonly process?: boolean } = {}) {
    this.registry = new Registry();
    if (options.process !== false) collectDefaultMetrics({ register: this.registry });
  }

  /** Counters of one controller's reconciles and of its queue. */
  ofController(controller: string): { readonly reconciles: ReconcileMetrics; readonly queue: QueueMetrics } {
    return { reconciles: this.#reconciles(controller), queue: this.#queue(controller) };
  }

  /** Reads the seconds of running reconciles when metrics are requested. */
  watchRunning(read: () => ReadonlyMap<string, readonly number[]>): void {
    const over = (name: string, help: string, of: (seconds: readonly number[]) => number): void => {
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: queueLabels,
        registers: [this.registry],
        collect: () => {
          for (const [controller, seconds] of read()) gauge.set({ name: controller, controller }, of(seconds));
        },
      });
    };
    over('workqueue_unfinished_work_seconds', 'Seconds of work in progress', (seconds) =>
      seconds.reduce((sum, one) => sum + one, 0),
    );
    over('workqueue_longest_running_processor_seconds', 'Seconds of the longest running reconcile', (seconds) =>
      Math.max(0, ...seconds),
    );
  }

  /** Reads objects when metrics are scraped. */
  watchObjects<T>(metrics: readonly ObjectMetric<T>[], source: ObjectSource<T>): void {
    for (const metric of metrics) {
      const read = metric.type === 'counter' ? new ObjectCounter(metric, source) : new ObjectGauge(metric, source);
      this.registry.registerMetric(read);
    }
  }

  /** Reads the number of unhandled errors when metrics are scraped. */
  watchUnhandled(read: () => { readonly rejections: number; readonly exceptions: number }): void {
    const counter: Counter = new Counter({
      name: 'steward_unhandled_errors_total',
      help: 'Errors that no code handled; each is a defect. Exceptions that ended the process are counted by the next one',
      labelNames: ['kind'],
      registers: [this.registry],
      collect: () => {
        const { rejections, exceptions } = read();
        counter.reset();
        counter.inc({ kind: 'rejection' }, rejections);
        counter.inc({ kind: 'exception' }, exceptions);
      },
    });
  }

  /** Requests to an API server; `host` is the cluster's name, so that tenants are one host. */
  request(call: {
    readonly verb: string;
    readonly code: number | '<error>';
    readonly host: string;
    readonly seconds: number;
  }): void {
    const { verb, host, seconds } = call;
    this.#counter('rest_client_requests_total', 'Requests to API servers', ['code', 'method', 'host']).inc({
      code: String(call.code),
      method: verb.toUpperCase(),
      host,
    });
    this.#histogram('rest_client_request_duration_seconds', 'Duration of requests to API servers', {
      labels: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0],
    }).observe({ verb: verb.toUpperCase(), host }, seconds);
  }

  /** Whether this process leads. */
  leading(name: string, leads: boolean): void {
    this.#gauge('leader_election_master_status', 'Whether this process leads', ['name']).set({ name }, leads ? 1 : 0);
  }

  /** How many processes share the objects. */
  members(count: number): void {
    this.#gauge('steward_shard_members', 'Managers that share the objects, where several are active', []).set(count);
  }

  /** Counts reads of the serving certificate. */
  certificateRead(ok: boolean): void {
    const total = this.#counter('certwatcher_read_certificate_total', 'Reads of the serving certificate', []);
    const errors = this.#counter(
      'certwatcher_read_certificate_errors_total',
      'Failed reads of the serving certificate',
      [],
    );
    total.inc();
    if (!ok) errors.inc();
  }

  /** Counters of the admission server. */
  admission(): AdmissionMetrics {
    const prefix = 'controller_runtime_webhook';
    const total = this.#counter(`${prefix}_requests_total`, 'Admission requests by HTTP status', ['webhook', 'code']);
    const latency = this.#histogram(`${prefix}_latency_seconds`, 'Duration of admission requests', {
      labels: ['webhook'],
    });
    const inFlight = this.#gauge(`${prefix}_requests_in_flight`, 'Admission requests in progress', ['webhook']);
    const panics = this.#counter(`${prefix}_panics_total`, 'Admission rules that failed', ['webhook']);
    return {
      began: (webhook) => {
        inFlight.inc({ webhook });
        const end = latency.startTimer({ webhook });
        return (code) => {
          end();
          inFlight.dec({ webhook });
          total.inc({ webhook, code: String(code) });
        };
      },
      panicked: (webhook) => {
        panics.inc({ webhook });
      },
    };
  }

  /** Counters of the apply engine. */
  apply(): ApplyMetrics {
    const objects = this.#counter('steward_apply_objects_total', 'Objects of applied sets', ['component', 'result']);
    const drifted = this.#counter('steward_apply_drift_total', 'Objects whose drift was repaired', [
      'component',
      'kind',
    ]);
    const pruned = this.#counter('steward_apply_pruned_total', 'Objects pruned because no set contains them', [
      'component',
      'kind',
    ]);
    return {
      applied: (component, count) => {
        objects.inc({ component, result: 'applied' }, count);
      },
      unchanged: (component, count) => {
        objects.inc({ component, result: 'unchanged' }, count);
      },
      drifted: (component, kind) => {
        drifted.inc({ component, kind });
      },
      pruned: (component, kind) => {
        pruned.inc({ component, kind });
      },
    };
  }

  /** How long a claim waited for its control plane. */
  claimBound(seconds: number): void {
    this.#histogram('steward_claim_bound_seconds', claimHelp, { labels: [], buckets: claimBuckets }).observe(seconds);
  }

  /** How long one phase took. */
  phase(controller: string, phase: string, seconds: number): void {
    this.#histogram('steward_phase_duration_seconds', 'Duration of phases', {
      labels: ['controller', 'phase'],
      buckets: reconcileBuckets,
    }).observe({ controller, phase }, seconds);
  }

  #reconciles(controller: string): ReconcileMetrics {
    const prefix = 'controller_runtime';
    const one = ['controller'];
    const total = this.#counter(`${prefix}_reconcile_total`, 'Reconciles by result', ['controller', 'result']);
    for (const result of ['success', 'error', 'requeue', 'requeue_after']) total.inc({ controller, result }, 0);
    const errors = this.#counter(`${prefix}_reconcile_errors_total`, 'Reconciles that failed', one);
    const terminal = this.#counter(
      `${prefix}_terminal_reconcile_errors_total`,
      'Reconciles that failed and are not retried until something changes',
      one,
    );
    const panics = this.#counter(`${prefix}_reconcile_panics_total`, 'Reconciles that crashed', one);
    const timeouts = this.#counter(`${prefix}_reconcile_timeouts_total`, 'Reconciles aborted at their deadline', one);
    for (const counter of [errors, terminal, panics, timeouts]) counter.inc({ controller }, 0);
    const time = this.#histogram(`${prefix}_reconcile_time_seconds`, 'Duration of reconciles', {
      labels: one,
      buckets: reconcileBuckets,
    });
    const limit = this.#gauge(`${prefix}_max_concurrent_reconciles`, 'Maximum number of concurrent reconciles', one);
    const active = this.#gauge(`${prefix}_active_workers`, 'Reconciles in progress', one);
    active.set({ controller }, 0);
    return {
      limit: (concurrency) => {
        limit.set({ controller }, concurrency);
      },
      began: () => {
        active.inc({ controller });
      },
      ended: (result, seconds) => {
        active.dec({ controller });
        total.inc({ controller, result });
        time.observe({ controller }, seconds);
      },
      failed: (how) => {
        errors.inc({ controller });
        if (how.terminal) terminal.inc({ controller });
        if (how.timedOut) timeouts.inc({ controller });
      },
      panicked: () => {
        panics.inc({ controller });
      },
      owned: (keys) => {
        const help = 'Objects that this manager reconciles, where several managers share them';
        this.#gauge('steward_shard_objects', help, one).set({ controller }, keys);
      },
    };
  }

  #queue(controller: string): QueueMetrics {
    const labels = { name: controller, controller };
    const depth = this.#gauge('workqueue_depth', 'Keys that are waiting', [...queueLabels, 'priority']);
    const adds = this.#counter('workqueue_adds_total', 'Keys added', queueLabels);
    const retries = this.#counter('workqueue_retries_total', 'Keys added again after a failure', queueLabels);
    const waited = this.#histogram('workqueue_queue_duration_seconds', 'How long keys wait', {
      labels: queueLabels,
      buckets: queueBuckets,
    });
    const worked = this.#histogram('workqueue_work_duration_seconds', 'How long reconciles take', {
      labels: queueLabels,
      buckets: queueBuckets,
    });
    for (const counter of [adds, retries]) counter.inc(labels, 0);
    depth.set({ ...labels, priority: '0' }, 0);
    return {
      depth: (priority, waiting) => {
        depth.set({ ...labels, priority: String(priority) }, waiting);
      },
      added: () => {
        adds.inc(labels);
      },
      retried: () => {
        retries.inc(labels);
      },
      waited: (seconds) => {
        waited.observe(labels, seconds);
      },
      worked: (seconds) => {
        worked.observe(labels, seconds);
      },
    };
  }

  #counter(name: string, help: string, labelNames: readonly string[]): Counter {
    return remembered(
      this.#counters,
      name,
      () => new Counter({ name, help, labelNames: [...labelNames], registers: [this.registry] }),
    );
  }

  #gauge(name: string, help: string, labelNames: readonly string[]): Gauge {
    return remembered(
      this.#gauges,
      name,
      () => new Gauge({ name, help, labelNames: [...labelNames], registers: [this.registry] }),
    );
  }

  #histogram(
    name: string,
    help: string,
    of: { readonly labels: readonly string[]; readonly buckets?: readonly number[] },
  ): Histogram {
    return remembered(this.#histograms, name, () => {
      const buckets = of.buckets === undefined ? {} : { buckets: [...of.buckets] };
      return new Histogram({ name, help, labelNames: [...of.labels], ...buckets, registers: [this.registry] });
    });
  }
}

const queueLabels = ['name', 'controller'];

function remembered<T>(known: Map<string, T>, name: string, make: () => T): T {
  const found = known.get(name) ?? make();
  known.set(name, found);
  return found;
}
