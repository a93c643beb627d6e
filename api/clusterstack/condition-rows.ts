import type { ConditionRow } from '../condition-row.ts';
import { definitionOutdatedRow } from '../definition-outdated-row.ts';

const sourceAvailable = {
  meaning: 'The source of releases is known, and its credentials are there.',
  polarity: 'positive',
  reasons: {
    NoSource: 'Neither the spec nor the manager names a source of releases.',
    CredentialsMissing: 'A Secret or a key with credentials of the source is not there.',
    FailedCreateAssetsClient: 'The source cannot be used as it is described; the message says why.',
  },
} as const satisfies ConditionRow;

/** Conditions of a ClusterStack. */
export const clusterStackConditions = {
  Ready: {
    meaning: 'All versions that are wanted are there and can be used.',
    polarity: 'positive',
    reasons: { Ready: 'Everything is in place.' },
  },
  AssetsClientAPIAvailable: sourceAvailable,
  ReleasesSynced: {
    meaning: 'It is known which versions are wanted: the source was asked where that is needed.',
    polarity: 'positive',
    reasons: {
      FailedToSync: 'The source could not be asked; nothing is removed meanwhile.',
      NoReleaseFound: 'The source has no version of this stack, Kubernetes minor and channel, and the spec names none.',
    },
  },
  ProviderClusterStackReleasesSynced: {
    meaning: 'Each release has its provider’s object.',
    polarity: 'positive',
    reasons: {
      ProviderTemplateNotFound: 'The template that spec.providerRef names is not there.',
      FailedToCreateOrUpdate: 'A provider’s object could not be written; the message says which and why.',
    },
  },
  ClusterStackReleasesSynced: {
    meaning: 'A ClusterStackRelease is there for each version that is wanted, and no other that could go.',
    polarity: 'positive',
    reasons: { FailedToCreateOrUpdate: 'A ClusterStackRelease could not be written; the message says which and why.' },
  },
  ClusterStackReleaseAvailable: {
    meaning: 'At least one release is ready.',
    polarity: 'positive',
    reasons: {
      NoReleaseReady: 'No release is ready yet; the summary says how far each has come.',
      NoRelease: 'There is no release.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a ClusterStackRelease. */
export const clusterStackReleaseConditions = {
  Ready: {
    meaning: 'Clusters can be made of the release.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      InUse: 'The release is being deleted and waits for the Clusters that use it; the message names them.',
      Deleting: 'The objects of the release are being removed.',
    },
  },
  AssetsClientAPIAvailable: sourceAvailable,
  ClusterStackReleaseDownloaded: {
    meaning: 'The files of the release are on this machine, complete, and those that were first seen.',
    polarity: 'positive',
    reasons: {
      ReleaseAssetsNotDownloadedYet: 'The files are being fetched, or the source does not have them.',
      IssueWithReleaseAssets: 'The files are there but not those of a release; the message says what is wrong.',
    },
  },
  ProviderClusterStackReleaseReady: {
    meaning: 'The provider’s object of the release is ready, or none is needed.',
    polarity: 'positive',
    reasons: {
      ProcessOngoing: 'The provider’s object is not ready yet.',
      ProviderObjectNotFound: 'The provider’s object, or its kind, is not there.',
    },
  },
  HelmChartApplied: {
    meaning: 'ClusterClass and templates of the release are in the cluster as its chart describes them.',
    polarity: 'positive',
    reasons: {
      TemplateFailed: 'The chart could not be rendered; the message has its own words.',
      FailedToApplyObjects: 'The API server refused objects of the chart; the message names each and says why.',
      OwnedByAnother:
        'Objects of the chart’s names are there that the release did not make; the message names each and whose it is.',
      ObjectsApplyingOngoing: 'Objects are being applied, or their kinds are not there yet.',
      DefinitionOutdated:
        'The definition of ClusterStackReleases is older than the manager, and the API server does not keep what the message names: apply the definitions of the manager’s version.',
      FailedToDeleteObjects: 'Objects could not be removed; the message says which and why.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a ClusterAddon. */
export const clusterAddonConditions = {
  Ready: {
    meaning: 'The add-ons of the Cluster’s class are in place.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      StageTimedOut: 'A stage takes longer than its timeout; it is tried on, and the message says what it waits for.',
      Paused: 'The Cluster is paused: nothing is changed.',
      ClusterDeleting: 'The Cluster is being deleted: its add-ons go with it.',
      NoClusterStack: 'The Cluster is of no ClusterClass of a cluster stack: nothing is changed.',
      DefinitionOutdated:
        'The definition of ClusterAddons is older than the manager, and the API server does not keep what the message names: apply the definitions of the manager’s version.',
    },
  },
  ClusterReady: {
    meaning: 'The API server of the workload cluster answers.',
    polarity: 'positive',
    reasons: {
      ControlPlaneNotReady: 'It does not answer yet, or its kubeconfig is not there.',
      ClusterNotFound: 'The Cluster that this object is of does not exist.',
    },
  },
  AssetsClientAPIAvailable: sourceAvailable,
  ClusterStackReleaseDownloaded: clusterStackReleaseConditions.ClusterStackReleaseDownloaded,
  ClusterAddonConfigValidated: {
    meaning: 'The release says in which stages its add-ons are applied.',
    polarity: 'positive',
    reasons: {
      ParsingClusterAddonConfigFailed: 'The clusteraddon.yaml of the release cannot be used; the message says why.',
    },
  },
  HookServerReady: {
    meaning: 'The hook whose stages have to run is known.',
    polarity: 'positive',
    reasons: { HookServerUnresponsive: 'Nothing has called for the hook yet.' },
  },
  HelmChartFound: {
    meaning: 'The release has a chart for each stage.',
    polarity: 'positive',
    reasons: { HelmChartMissing: 'A stage has no chart; the message names it.' },
  },
  HelmChartTemplated: {
    meaning: 'The charts could be rendered with the values of the Cluster.',
    polarity: 'positive',
    reasons: {
      TemplateNewClusterStackFailed: 'A chart of the new release could not be rendered.',
      TemplateOldClusterStackFailed: 'A chart of the old release could not be rendered.',
      TemplateNewClusterStackOverwriteFailed: 'Values of the new release could not be expanded.',
      TemplateOldClusterStackOverwriteFailed: 'Values of the old release could not be expanded.',
    },
  },
  EvaluatedCEL: {
    meaning: 'The conditions of the stages hold.',
    polarity: 'positive',
    reasons: {
      FailedToEvaluatePreCondition: 'A stage waits for its condition before, or that cannot be evaluated.',
      FailedToEvaluatePostCondition: 'A stage waits for its condition after, or that cannot be evaluated.',
    },
  },
  HelmChartApplied: {
    meaning: 'All objects of the add-ons are in the workload cluster.',
    polarity: 'positive',
    reasons: {
      FailedToApplyObjects: 'Objects were refused; the message names each and says why.',
      ObjectsApplyingOngoing: 'Objects are being applied, or their kinds are not there yet.',
    },
  },
  HelmChartDeleted: {
    meaning: 'Objects that are not wanted any more are gone.',
    polarity: 'positive',
    reasons: { FailedToDeleteObjects: 'Objects could not be removed; the message says which and why.' },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;
