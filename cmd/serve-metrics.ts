import type { Clock, Timer } from '../runtime/clock.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { detached } from '../runtime/detached.ts';
import { HttpEndpoints, metricsPages } from '../runtime/observe/http-endpoints.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import type { Metrics } from '../runtime/observe/metrics.ts';
import { profilePages } from '../runtime/observe/profile-pages.ts';
import { ScrapeAccess } from '../runtime/observe/scrape-access.ts';
import { defaultServingLife, makeServingMaterial, type ServingMaterial } from '../runtime/server/serving-pair.ts';
import { bindText } from './flags/bind-text.ts';
import type { Closing } from './closing.ts';
import type { ManagerSettings } from './flags/manager-settings.ts';

/** With what metrics are served. */
export interface MetricsParts {
  readonly settings: Pick<ManagerSettings, 'metrics' | 'insecureMetrics' | 'profiling' | 'podName'>;
  /** Not guarded by leadership: every replica serves. */
  readonly cluster: Pick<Cluster, 'create'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly closing: Closing;
}

/** A long way before the end of a certificate, and shorter than the longest time that a timer takes. */
const renewalMs = 20 * 24 * 3600_000;

/**
 * Serves metrics like controller-runtime: over TLS with a certificate of this process, to clients that the API server authenticates and
 * that may get the path; or over plain HTTP to everyone if so configured. Returns the port; undefined when metrics are disabled.
 */
export async function serveMetrics(parts: MetricsParts): Promise<number | undefined> {
  const { settings, cluster, clock, log, metrics, closing } = parts;
  const { metrics: address, insecureMetrics, profiling, podName } = settings;
  if (address === undefined) return undefined;
  const pages = { ...metricsPages(metrics.registry), ...(profiling && profilePages(clock)) };
  const serve = (endpoints: HttpEndpoints): Promise<number> =>
    closing.add(endpoints, (open) => open.close()).listen(bindText(address));
  if (insecureMetrics) return serve(new HttpEndpoints(pages, log, { clock }));

  const newPair = (): Promise<ServingMaterial> => {
    const names = { dnsNames: ['localhost', podName], ipAddresses: ['127.0.0.1', '::1'] };
    return makeServingMaterial({ names, life: defaultServingLife, now: clock.now() });
  };
  const access = new ScrapeAccess({ cluster, clock, log });
  const guard = { pair: await newPair(), refusal: access.refusal.bind(access) };
  const endpoints = new HttpEndpoints(pages, log, { clock, guard });
  const renewLater = (): Timer =>
    clock.after(renewalMs, () => {
      timer = renewLater();
      const renewed = newPair().then((pair) => {
        endpoints.use(pair);
      });
      detached(renewed, log, 'renewing the certificate of the metrics endpoint');
    });
  let timer = renewLater();
  closing.add(undefined, () => {
    timer.cancel();
  });
  return serve(endpoints);
}
