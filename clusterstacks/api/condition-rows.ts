import type { ConditionRow } from '../../api/condition-row.ts';
import { definitionOutdatedRow } from '../../api/definition-outdated-row.ts';

const sourceAvailable = {
  meaning: 'The source of releases is known, and its credentials exist.',
  polarity: 'positive',
  reasons: {
    NoSource: 'Neither the spec nor the manager names a source of releases.',
    CredentialsMissing: 'A Secret with credentials for the source, or a key in it, does not exist.',
    FailedCreateAssetsClient: 'The source cannot be used as configured. The message says why.',
  },
} as const satisfies ConditionRow;

/** Conditions of a ClusterStack. */
export const clusterStackConditions = {
  Ready: {
    meaning: 'All wanted versions are present and can be used.',
    polarity: 'positive',
    reasons: { Ready: 'Everything is in place.' },
  },
  AssetsClientAPIAvailable: sourceAvailable,
  ReleasesSynced: {
    meaning: 'The wanted versions are known: the source was queried if that was necessary.',
    polarity: 'positive',
    reasons: {
      FailedToSync: 'The source could not be queried. No release is removed in the meantime.',
      NoReleaseFound:
        'The source has no version of this stack for the Kubernetes minor version and the channel, and the spec names none.',
    },
  },
  ProviderClusterStackReleasesSynced: {
    meaning: 'Each release has its provider object.',
    polarity: 'positive',
    reasons: {
      ProviderTemplateNotFound: 'The template that spec.providerRef names does not exist.',
      FailedToCreateOrUpdate: 'A provider object could not be written. The message says which one and why.',
    },
  },
  ClusterStackReleasesSynced: {
    meaning:
      'Each wanted version has a ClusterStackRelease. Those that are neither wanted nor in use have been deleted.',
    polarity: 'positive',
    reasons: {
      FailedToCreateOrUpdate: 'A ClusterStackRelease could not be written. The message says which one and why.',
    },
  },
  ClusterStackReleaseAvailable: {
    meaning: 'At least one release is ready.',
    polarity: 'positive',
    reasons: {
      NoReleaseReady: 'No release is ready yet. `status.summary` shows the progress of each.',
      NoRelease: 'There is no release.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a ClusterStackRelease. */
export const clusterStackReleaseConditions = {
  Ready: {
    meaning: 'Clusters can be created from the release.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      InUse: 'The release is being deleted and waits for the Clusters that use it. The message names them.',
      Deleting: 'The objects of the release are being deleted.',
    },
  },
  AssetsClientAPIAvailable: sourceAvailable,
  ClusterStackReleaseDownloaded: {
    meaning: 'The manager has all files of the release, and they are the ones that were first seen.',
    polarity: 'positive',
    reasons: {
      ReleaseAssetsNotDownloadedYet: 'The files are being downloaded, or the source does not have them.',
      IssueWithReleaseAssets: 'The files exist but are not those of a valid release. The message says what is wrong.',
    },
  },
  ProviderClusterStackReleaseReady: {
    meaning: 'The provider object of the release is ready, or none is needed.',
    polarity: 'positive',
    reasons: {
      ProcessOngoing: 'The provider object is not ready yet.',
      ProviderObjectNotFound: 'The provider object, or its kind, does not exist.',
    },
  },
  HelmChartApplied: {
    meaning: 'The ClusterClass and templates in the management cluster match the chart of the release.',
    polarity: 'positive',
    reasons: {
      TemplateFailed: 'The chart could not be rendered. The message contains its error.',
      FailedToApplyObjects: 'The API server rejected objects of the chart. The message names each one and says why.',
      OwnedByAnother:
        'Objects with names from the chart exist that the release did not create. The message names each one and its owner.',
      ObjectsApplyingOngoing: 'Objects are being applied, or their kinds do not exist yet.',
      DefinitionOutdated:
        "The CustomResourceDefinition of ClusterStackReleases is older than the manager, and the API server drops the fields that the message names. Apply the CustomResourceDefinitions of the manager's version.",
      FailedToDeleteObjects: 'Objects could not be deleted. The message says which ones and why.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a ClusterAddon. */
export const clusterAddonConditions = {
  Ready: {
    meaning: 'The add-ons of the ClusterClass of the Cluster are in place.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      StageTimedOut:
        'A stage takes longer than its timeout. It is still retried, and the message says what it is waiting for.',
      Paused: 'The Cluster is paused. Nothing is changed.',
      ClusterDeleting: 'The Cluster is being deleted, and its add-ons disappear with it.',
      NoClusterStack: 'The ClusterClass of the Cluster does not come from a cluster stack. Nothing is changed.',
      DefinitionOutdated:
        "The CustomResourceDefinition of ClusterAddons is older than the manager, and the API server drops the fields that the message names. Apply the CustomResourceDefinitions of the manager's version.",
    },
  },
  ClusterReady: {
    meaning: 'The API server of the workload cluster responds.',
    polarity: 'positive',
    reasons: {
      ControlPlaneNotReady: 'The API server does not respond yet, or its kubeconfig does not exist.',
      ClusterNotFound: 'The Cluster that this object belongs to does not exist.',
    },
  },
  AssetsClientAPIAvailable: sourceAvailable,
  ClusterStackReleaseDownloaded: clusterStackReleaseConditions.ClusterStackReleaseDownloaded,
  ClusterAddonConfigValidated: {
    meaning: 'The release defines the stages in which its add-ons are applied.',
    polarity: 'positive',
    reasons: {
      ParsingClusterAddonConfigFailed: 'The clusteraddon.yaml of the release cannot be used. The message says why.',
    },
  },
  HookServerReady: {
    meaning: 'The hook whose stages have to run is known.',
    polarity: 'positive',
    reasons: {},
  },
  HelmChartFound: {
    meaning: 'The release has a chart for each stage.',
    polarity: 'positive',
    reasons: { HelmChartMissing: 'A stage has no chart. The message names the stage.' },
  },
  HelmChartTemplated: {
    meaning: 'The charts were rendered with the values of the Cluster.',
    polarity: 'positive',
    reasons: {
      TemplateNewClusterStackFailed: 'A chart of the new release could not be rendered.',
      TemplateNewClusterStackOverwriteFailed: 'Values of the new release could not be expanded.',
    },
  },
  EvaluatedCEL: {
    meaning: 'The pre-conditions and post-conditions of the stages hold.',
    polarity: 'positive',
    reasons: {
      FailedToEvaluatePreCondition: 'The pre-condition of a stage does not hold yet, or cannot be evaluated.',
      FailedToEvaluatePostCondition: 'The post-condition of a stage does not hold yet, or cannot be evaluated.',
    },
  },
  HelmChartApplied: {
    meaning: 'All objects of the add-ons are in the workload cluster.',
    polarity: 'positive',
    reasons: {
      FailedToApplyObjects: 'Objects were rejected. The message names each one and says why.',
      ObjectsApplyingOngoing: 'Objects are being applied, or their kinds do not exist yet.',
    },
  },
  HelmChartDeleted: {
    meaning: 'Objects that are no longer wanted are deleted.',
    polarity: 'positive',
    reasons: { FailedToDeleteObjects: 'Objects could not be deleted. The message says which ones and why.' },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;
