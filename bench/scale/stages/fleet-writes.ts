import type { Cluster } from '../../../runtime/client/cluster.ts';
import { metricSamples } from '../../footprint/metric-samples.ts';

const writing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION']);

/** What tenants are made of in the management cluster. Leases and Events of the manager itself do not count. */
const resources: ReadonlySet<string> = new Set([
  ...['tenantcontrolplanes', 'datastores', 'deployments', 'services', 'secrets', 'configmaps', 'namespaces'],
  ...['poddisruptionbudgets', 'networkpolicies', 'horizontalpodautoscalers', 'ingresses', 'retainedcontrolplanes'],
]);

/** The writes that the management API server has counted for objects of tenants, by verb and resource, whoever wrote. */
export async function fleetWrites(admin: Cluster): Promise<Readonly<Record<string, number>>> {
  return writesIn(await admin.text('/metrics'));
}

/** The same in the text of its metrics. */
export function writesIn(metrics: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { labels, value } of metricSamples(metrics, 'apiserver_request_total')) {
    const { verb = '', resource = '', subresource = '', dry_run: dryRun = '' } = labels;
    if (!writing.has(verb) || !resources.has(resource) || dryRun !== '') continue;
    const name = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    counts[name] = (counts[name] ?? 0) + value;
  }
  return counts;
}
