import { isBackgroundFlow } from './background-flows.ts';
import { readSample } from './sample-line.ts';

/** What one kube-apiserver says of its requests. */
export interface UseCounters {
  /** Requests by flow schema, of those whose requests are use. */
  readonly requests: ReadonlyMap<string, number>;
  /** Requests of all other flow schemas. It decreases only if the process is another one. */
  readonly background: number;
  /** Calls of exec, attach, portforward and proxy, however short. */
  readonly connects: number;
  /** Requests that run now and are no watches, such as exec and logs that are followed. */
  readonly streams: number;
  /** Open watches by what they watch. */
  readonly watches: ReadonlyMap<string, number>;
}

/** The metrics that are read. The API server writes them in the order of their names, and those with a series for each kind come later. */
const read = {
  connects: 'apiserver_admission_step_admission_duration_seconds_count',
  dispatched: 'apiserver_flowcontrol_dispatched_requests_total',
  running: 'apiserver_longrunning_requests',
} as const;

const names = Object.values(read);

const metricName = /^# (?:HELP|TYPE) (\S+)/;

/** Some two hundred kilobytes are as far as the last metric that is read; a tenant decides what its API server answers. */
export const mostCharacters = 2 * 1024 * 1024;

/** So many different things are told apart: more than an API server has flow schemas or kinds that are watched. */
const mostSeries = 20_000;

/** An answer that does not say how the API server is used. */
export class UseUnknownError extends Error {
  override readonly name = 'UseUnknownError';
}

/**
 * Reads the lines of `/metrics` as far as the last one that matters. Throws `UseUnknownError` if they do not say how the API server is
 * used.
 */
export async function readUseCounters(lines: AsyncIterable<string>): Promise<UseCounters> {
  const requests = new Map<string, number>();
  const watches = new Map<string, number>();
  let [background, connects, streams, characters] = [0, 0, 0, 0];
  let counts = false;
  for await (const line of lines) {
    characters += line.length + 1;
    if (characters > mostCharacters)
      throw new UseUnknownError(`${read.running} is not within the first ${mostCharacters} characters of /metrics`);
    const named = metricName.exec(line)?.[1];
    if (named !== undefined && named > read.running) break;
    // Nearly all of the lines are others.
    const sample = names.some((name) => line.startsWith(name)) ? readSample(line) : undefined;
    if (sample === undefined) continue;
    const { name, labels, value } = sample;
    if (name === read.dispatched) {
      counts = true;
      const flow = labels.get('flow_schema') ?? '';
      if (isBackgroundFlow(flow)) background += value;
      else requests.set(flow, (requests.get(flow) ?? 0) + value);
    } else if (name === read.connects && labels.get('operation') === 'CONNECT') connects += value;
    else if (name === read.running && labels.get('verb') !== 'WATCH') streams += value;
    else if (name === read.running) {
      const watched = ['group', 'version', 'resource', 'subresource', 'scope']
        .map((key) => labels.get(key) ?? '')
        .join('/');
      watches.set(watched, (watches.get(watched) ?? 0) + value);
    }
    if (requests.size + watches.size > mostSeries)
      throw new UseUnknownError(`/metrics has more than ${mostSeries} series of requests`);
  }
  if (!counts)
    throw new UseUnknownError(
      `/metrics has no ${read.dispatched}: kube-apiserver must run with --enable-priority-and-fairness, its default`,
    );
  return { requests, background, connects, streams, watches };
}
