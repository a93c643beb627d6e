import type { AppliedResource } from '../../api/applied-resource.ts';
import type { Manifest } from '../../../api/meta.ts';

/** An object of a chart as the status names it; with an error it is not in the cluster as the chart has it. */
export function resourceOf({ apiVersion, kind, metadata }: Manifest, error?: string): AppliedResource {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return {
    ...(group !== '' && { group }),
    version,
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    status: error === undefined ? 'synced' : 'not-synced',
    error,
  };
}
