import type { Flags } from '../flags.ts';

const repositoryFlags = {
  repository: {
    value: '',
    help: 'OCI repository of releases, host[:port]/path ($OCI_REPOSITORY). $OCI_USERNAME and $OCI_PASSWORD, or $OCI_ACCESS_TOKEN, say who asks.',
  },
  'plain-http': { value: false, help: 'The registry is asked without TLS.' },
  'ca-file': {
    value: '',
    help: 'PEM file with the authority of the registry’s certificate; empty: those of the system.',
  },
} as const satisfies Flags;

const treeFlags = {
  kubernetes: {
    value: '',
    help: 'Minor, such as 1.33, whose row of versions.yaml is stamped into the tree; empty: csctl.yaml as it is.',
  },
} as const satisfies Flags;

const outputFlags = {
  output: {
    value: '.release',
    help: 'Folder of built releases, each in a folder of its name; earlier ones are looked for there unless --repository is said.',
  },
} as const satisfies Flags;

/** The flags of `steward stack build <folder>`. */
export const buildFlags = {
  mode: {
    value: 'stable',
    help: 'stable: the next vN, of the stack when anything changed and of the add-ons when they did; hash: v0-sha.<hash of the tree>; custom: as the version flags say.',
  },
  ...outputFlags,
  ...treeFlags,
  'cluster-stack-version': {
    value: '',
    help: 'Mode custom: version of the stack and its ClusterClass, such as v1 or v0-alpha.3.',
  },
  'cluster-addon-version': { value: '', help: 'Mode custom: version of the add-ons; empty: that of the stack.' },
  'node-image-version': { value: '', help: 'Mode custom: version of the node images; empty: that of the stack.' },
  ...repositoryFlags,
} as const satisfies Flags;

/** The flags of `steward stack push <folder of a release>`. */
export const pushFlags = repositoryFlags;

/** The flags of `steward stack diff <folder>`. */
export const diffFlags = {
  release: { value: '', help: 'Release to compare with: its name or its folder; empty: the newest vN.' },
  ...outputFlags,
  ...treeFlags,
  ...repositoryFlags,
} as const satisfies Flags;

/** The flags of `steward stack lint <folder>`. A release is compared with those in the repository, or else with those beside it. */
export const lintFlags = {
  helm: { value: 'helm', help: 'Path of helm 4, or its name in $PATH, which renders the charts.' },
  ...treeFlags,
  ...repositoryFlags,
} as const satisfies Flags;
