import { goDuration } from '../../api/go-duration.ts';
import type { MonitoringSettings } from '../../controllers/tenantcontrolplane/monitoring/pod-monitor.ts';
import { UsageError } from './flags.ts';
import type { FlagValues } from './flags.ts';
import type { managerFlags } from './manager-flags.ts';

/** A name, with a domain before it or not, and a value. */
const label =
  /^((?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)=((?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?)$/;

const leastMs = 5000;

type Flags = Pick<FlagValues<typeof managerFlags>, 'monitor-tenants' | 'pod-monitor-labels' | 'pod-monitor-interval'>;

/**
 * How Prometheus scrapes the components of control planes, from the flags.
 * @throws UsageError that names the flag and what it was given.
 */
export function monitoringSettings(flags: Flags): MonitoringSettings | undefined {
  const labels = Object.fromEntries(
    flags['pod-monitor-labels']
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(keyAndValue),
  );
  const interval = `${intervalMs(flags['pod-monitor-interval'])}ms`;
  return flags['monitor-tenants'] ? { labels, interval } : undefined;
}

function keyAndValue(entry: string): readonly [key: string, value: string] {
  const [, key, value] = label.exec(entry) ?? [];
  if (key !== undefined && value !== undefined) return [key, value];
  throw new UsageError(`--pod-monitor-labels takes labels as key=value, separated by commas, got "${entry}"`);
}

function intervalMs(text: string): number {
  let ms: number;
  try {
    ms = goDuration(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--pod-monitor-interval: ${why}`, { cause: error });
  }
  if (ms >= leastMs && Number.isInteger(ms)) return ms;
  throw new UsageError(`--pod-monitor-interval takes at least 5s, in whole milliseconds, got ${text}`);
}
