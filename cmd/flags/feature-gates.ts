import { UsageError } from './flags.ts';

/** The feature gates that are acted upon. */
export interface FeatureGates {
  /** Control planes may run in other clusters. */
  readonly externalClusterReference: boolean;
  /** Their kubeconfigs may be in other namespaces than the StewardControlPlanes. */
  readonly externalClusterReferenceCrossNamespace: boolean;
  /** The manager reconciles ClusterStacks, their releases and the add-ons of Clusters. */
  readonly clusterStacks: boolean;
  /** Core Cluster API calls the hooks, if its gate of the same name is on; has an effect only with `clusterStacks`. */
  readonly runtimeSdk: boolean;
  /** BackupPolicies, TenantBackups and TenantRestores are reconciled. */
  readonly backups: boolean;
}

/**
 * Reads `Name=true,Other=false`; all gates are off by default. Unknown names are ignored: they belong to features that are
 * always on here, or to other providers.
 * @throws UsageError for anything else.
 */
export function readFeatureGates(text: string): FeatureGates {
  const gates = new Map(
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => {
        const [, name, value] = /^([A-Za-z0-9]+)=(true|false)$/.exec(part) ?? [];
        if (name === undefined)
          throw new UsageError(`--feature-gates takes Name=true|false, separated by commas, got "${part}"`);
        return [name, value === 'true'] as const;
      }),
  );
  return {
    externalClusterReference: gates.get('ExternalClusterReference') ?? false,
    externalClusterReferenceCrossNamespace: gates.get('ExternalClusterReferenceCrossNamespace') ?? false,
    clusterStacks: gates.get('ClusterStacks') ?? false,
    runtimeSdk: gates.get('RuntimeSDK') ?? false,
    backups: gates.get('Backups') ?? false,
  };
}
