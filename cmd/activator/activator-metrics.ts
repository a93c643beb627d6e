import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CallEnd } from '../../tenants/activator/activator.ts';

/** How many connections there are now. */
export interface ActivatorLoad {
  /** Those of callers who wait for a control plane. */
  readonly held: number;
  /** All that are open. */
  readonly open: number;
}

/** The metrics of the activator, in a registry of their own. */
export interface ActivatorMetrics {
  readonly registry: Registry;
  /** A connection was passed on or refused. */
  readonly ended: (end: CallEnd) => void;
  /** A connection that had been passed on was ended for another one. */
  readonly displaced: () => void;
}

/** Measures connections. What there is now is read when somebody asks for the metrics. */
export function activatorMetrics(load: () => ActivatorLoad): ActivatorMetrics {
  const registry = new Registry();
  const registers = [registry];
  const connections = new Counter({
    name: 'steward_activator_connections_total',
    help: 'Connections to control planes that slept, by what became of them',
    labelNames: ['outcome'],
    registers,
  });
  const displaced = new Counter({
    name: 'steward_activator_displaced_connections_total',
    help: 'Connections that were passed on and ended later, because there were too many',
    registers,
  });
  const waited = new Histogram({
    name: 'steward_activator_wait_seconds',
    help: 'Seconds that callers waited who came while no pod of the control plane was ready, until their connections were passed on',
    buckets: [0.01, 0.1, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30],
    registers,
  });
  for (const [name, help, read] of [
    [
      'steward_activator_held_connections',
      'Connections whose callers wait for a control plane to wake up',
      () => load().held,
    ],
    [
      'steward_activator_open_connections',
      'Connections that are open, also those that were passed on',
      () => load().open,
    ],
  ] as const) {
    const gauge = new Gauge({
      ...{ name, help, registers },
      collect: () => {
        gauge.set(read());
      },
    });
  }
  return {
    registry,
    ended: ({ outcome, waitedMs, isHeld }) => {
      connections.inc({ outcome });
      if (outcome === 'Passed' && isHeld) waited.observe(waitedMs / 1000);
    },
    displaced: () => {
      displaced.inc();
    },
  };
}
