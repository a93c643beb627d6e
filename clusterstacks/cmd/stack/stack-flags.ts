import type { Flags } from '../../../cmd/flags/flags.ts';

const repositoryFlags = {
  repository: {
    value: '',
    help: 'OCI repository of releases, as host[:port]/path ($OCI_REPOSITORY). Credentials are read from $OCI_USERNAME and $OCI_PASSWORD, or from $OCI_ACCESS_TOKEN.',
  },
  'plain-http': { value: false, help: 'Whether to connect to the registry without TLS.' },
  'ca-file': {
    value: '',
    help: 'PEM file with the CA of the registry. Defaults to the CAs of the system.',
  },
} as const satisfies Flags;

const treeFlags = {
  kubernetes: {
    value: '',
    help: 'Kubernetes minor version, e.g. 1.33, whose row of versions.yaml is written into the tree. If empty, csctl.yaml is used as it is.',
  },
} as const satisfies Flags;

const outputFlags = {
  output: {
    value: '.release',
    help: 'Directory of built releases, each in a subdirectory with its name. Earlier releases are looked up there unless --repository is set.',
  },
} as const satisfies Flags;

/** The flags of `steward stack build <folder>`. */
export const buildFlags = {
  mode: {
    value: 'stable',
    help: 'stable: the next vN, for the stack if anything changed, and for the add-ons if they changed. hash: v0-sha.<hash of the tree>. custom: the versions in the version flags.',
  },
  ...outputFlags,
  ...treeFlags,
  'cluster-stack-version': {
    value: '',
    help: 'Mode custom: version of the stack and its ClusterClass, e.g. v1 or v0-alpha.3.',
  },
  'cluster-addon-version': {
    value: '',
    help: 'Mode custom: version of the add-ons. Defaults to the version of the stack.',
  },
  'node-image-version': {
    value: '',
    help: 'Mode custom: version of the node images. Defaults to the version of the stack.',
  },
  ...repositoryFlags,
} as const satisfies Flags;

/** The flags of `steward stack push <folder of a release>`. */
export const pushFlags = repositoryFlags;

/** The flags of `steward stack diff <folder>`. */
export const diffFlags = {
  release: { value: '', help: 'Release to compare with, by its name or its directory. Defaults to the newest vN.' },
  ...outputFlags,
  ...treeFlags,
  ...repositoryFlags,
} as const satisfies Flags;

/**
 * The flags of `steward stack lint <folder>`. A release is compared with those in the repository, or with those beside
 * it.
 */
export const lintFlags = {
  helm: { value: 'helm', help: 'Path of helm 4, or its name in $PATH. It renders the charts.' },
  ...treeFlags,
  ...repositoryFlags,
} as const satisfies Flags;
