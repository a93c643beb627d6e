import { isIP } from 'node:net';
import type { Key } from '../../api/meta.ts';
import { AdmissionServer } from '../../runtime/admission/admission-server.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { HealthCheck } from '../../runtime/observe/health-check.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import type { Metrics } from '../../runtime/observe/metrics.ts';
import { ServingCertificates } from '../../runtime/server/serving-certificates.ts';
import { createAdmissions } from './admissions.ts';
import { clusterAddonAdmissions } from '../../clusterstacks/cmd/cluster-addon-admissions.ts';
import { clusterStackAdmissions } from '../../clusterstacks/cmd/cluster-stack-admissions.ts';
import type { Closing } from '../closing.ts';
import type { ManagerSettings } from '../flags/manager-settings.ts';
import { runtimeExtensionParts } from '../../clusterstacks/cmd/runtime-extension.ts';
import { untilAnswered } from '../until-answered.ts';

/** With what the webhooks are served. */
export interface AdmissionParts {
  readonly settings: ManagerSettings;
  /** Not guarded by leadership: every replica serves. */
  readonly cluster: Cluster;
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly closing: Closing;
  /** Aborted when the process is asked to end: a start that still waits is given up. */
  readonly signal: AbortSignal;
  /** Enqueues an object for a controller. */
  readonly enqueue: (controller: string, key: Key) => void;
}

/** What metrics and health report about the webhooks. */
export interface ServedAdmission {
  /** What readiness must check. */
  readonly checks: readonly HealthCheck[];
  /** Why the webhooks of the optional layer are not trusted yet; undefined when they are. */
  readonly layerTrouble: () => string | undefined;
}

/**
 * Serves the webhooks with certificates that the manager issues. Missing parts of the optional layer's webhooks do not delay the others.
 */
export async function serveAdmission(parts: AdmissionParts): Promise<ServedAdmission> {
  const { settings, cluster, informers, clock, log, metrics, closing, signal } = parts;
  const { webhooks: address, webhookUrl: url, webhookService: service, podNamespace: namespace } = settings;
  if (address === undefined) return { checks: [], layerTrouble: () => undefined };
  const host = url === '' ? '' : new URL(url).hostname.replace(/^\[|\]$/g, '');
  const dnsNames = [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`];
  const { calls, further } = runtimeExtensionParts(parts);
  const certificates = new ServingCertificates({
    cluster,
    informers,
    clock,
    log,
    secret: { namespace, name: 'steward-webhook-server-cert' },
    names: {
      dnsNames: host === '' || isIP(host) !== 0 ? dnsNames : [...dnsNames, host],
      ipAddresses: isIP(host) === 0 ? [] : [host],
    },
    mutating: ['steward-mutating-webhook-configuration'],
    validating: ['steward-validating-webhook-configuration'],
    ...(settings.gates.clusterStacks && {
      optional: {
        mutating: ['steward-clusterstacks-mutating-webhook-configuration'],
        validating: ['steward-clusterstacks-validating-webhook-configuration'],
      },
    }),
    further,
    ...(url === '' ? {} : { url }),
    read: (ok) => {
      metrics.certificateRead(ok);
    },
  });
  const handlers = {
    ...createAdmissions({
      cluster,
      defaultDataStore: settings.defaultDataStore,
      newestMinor: settings.newestMinor,
      boundaries: settings.boundaries,
      reach: settings.reach,
      backups: settings.gates.backups,
    }),
    ...(settings.gates.clusterStacks && { ...clusterStackAdmissions(cluster), ...clusterAddonAdmissions(cluster) }),
  };
  const server = new AdmissionServer({ handlers, calls, clock, log, metrics: metrics.admission() });
  const pair = await untilAnswered(() => certificates.ensure(), { clock, log, signal });
  await server.listen(address, pair);
  closing.add(server, (open) => open.close());
  const stop = new AbortController();
  const following = certificates.run((renewed) => {
    server.use(renewed);
  }, stop.signal);
  closing.add(stop, async (running) => {
    running.abort();
    await following;
  });
  return { checks: [server.health, certificates.health], layerTrouble: () => certificates.optionalTrouble };
}
