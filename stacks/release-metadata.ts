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
/** Both spellings: with the dot of versions, and with the dash of names of releases. */
const version = /^v\d+(?:-\w+[.-]\w+)?$/;

/**
 * Reads `metadata.yaml`. The version of node images may be missing: stacks without an integration of their provider have none.
 * @throws BadReleaseError that names file, path, value and remedy.
 */
export function parseReleaseMetadata(text: string): ReleaseMetadata {
  const document = DocumentValue.of(file, text);
  const apiVersion = document.field('apiVersion');
  const written = apiVersion.optionalText(`write ${apiGroup}v1alpha1`);
  if (written !== undefined && written !== `${apiGroup}v1alpha1`) {
    apiVersion.refuse(`only ${apiGroup}v1alpha1 is understood`);
  }
  const versions = document.field('versions');
  const components = versions.field('components');
  const nodeImage = components.field('nodeImage');
  return {
    clusterStack: dotted(versions.field('clusterStack')),
    kubernetes: versions
      .field('kubernetes')
      .matching(/^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/, 'the full version of Kubernetes is needed, such as "v1.33.7"'),
    clusterAddon: dotted(components.field('clusterAddon')),
    ...(nodeImage.isAbsent || nodeImage.value === '' ? {} : { nodeImage: dotted(nodeImage) }),
  };
}

function dotted(value: DocumentValue): string {
  const text = value.matching(version, 'a version such as "v1" or "v0-sha.rwvgrna" is needed');
  return text.replace(/^(v\d+-\w+)-/, '$1.');
}
