import { DocumentValue } from './read-document.ts';

/** What `metadata.yaml` of a release says, versions with dots (`v1`, `v0-sha.rwvgrna`). */
export interface ReleaseMetadata {
  readonly clusterStack: string;
  /** `vX.Y.Z`. */
  readonly kubernetes: string;
  readonly clusterAddon: string;
  readonly nodeImage?: string;
}

const file = 'metadata.yaml';
const apiGroup = 'metadata.clusterstack.x-k8s.io/';
/** Both spellings: with a dot as in versions, and with a dash as in release names. */
const version = /^v\d+(?:-\w+[.-]\w+)?$/;

/**
 * Reads `metadata.yaml`. The version of node images may be missing, because stacks without a provider integration have none.
 * @throws BadReleaseError that names file, path, value and remedy.
 */
export function parseReleaseMetadata(text: string): ReleaseMetadata {
  const document = DocumentValue.of(file, text);
  const apiVersion = document.field('apiVersion');
  const written = apiVersion.optionalText(`use ${apiGroup}v1alpha1`);
  if (written !== undefined && written !== `${apiGroup}v1alpha1`) {
    apiVersion.refuse(`only ${apiGroup}v1alpha1 is supported`);
  }
  const versions = document.field('versions');
  const components = versions.field('components');
  const nodeImage = components.field('nodeImage');
  return {
    clusterStack: dotted(versions.field('clusterStack')),
    kubernetes: versions
      .field('kubernetes')
      .matching(/^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/, 'use the full Kubernetes version, such as "v1.33.7"'),
    clusterAddon: dotted(components.field('clusterAddon')),
    ...(nodeImage.isAbsent || nodeImage.value === '' ? {} : { nodeImage: dotted(nodeImage) }),
  };
}

function dotted(value: DocumentValue): string {
  const text = value.matching(version, 'use a version such as "v1" or "v0-sha.rwvgrna"');
  return text.replace(/^(v\d+-\w+)-/, '$1.');
}
