import { BadReleaseError } from '../../../clusterstacks/sources/asset-errors.ts';
import { defaultAssetLimits } from '../../../clusterstacks/sources/asset-limits.ts';
import { parseClusterAddonConfig } from '../../../clusterstacks/sources/cluster-addon-config.ts';
import { githubRelease } from '../../../clusterstacks/sources/github/github-release.ts';
import { parseReleaseManifest } from '../../../clusterstacks/sources/oci/release-manifest.ts';
import { parseReleaseMetadata } from '../../../clusterstacks/sources/release-metadata.ts';
import { RenderError } from '../../../clusterstacks/sources/render-error.ts';
import { readManifests } from '../../../clusterstacks/helm/read-manifests.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const digest = `sha256:${'0'.repeat(64)}`;
const layer = { digest, size: 3, annotations: { 'org.opencontainers.image.title': 'metadata.yaml' } };

/** The documents of a release: the first byte chooses one. */
export const releaseDocuments: FuzzTarget = {
  name: 'release-documents',
  from: 'the author of a release of a cluster stack',
  seeds: () => [
    `\0${JSON.stringify({ schemaVersion: 2, layers: [layer], annotations: { 'org.opencontainers.image.created': '2026-01-02T03:04:05Z' } })}`,
    '\x01apiVersion: clusterstack.x-k8s.io/v1alpha1\nversions:\n  clusterStack: v1\n  kubernetes: v1.30.1\n  components:\n    clusterAddon: v1\n',
    '\x02apiVersion: clusteraddonconfig.x-k8s.io/v1alpha1\nclusterAddonVersion: v1\naddonStages:\n  AfterControlPlaneInitialized:\n  - name: cni\n    action: apply\n    timeout: 5m\n',
    '\x03# Source: a/templates/b.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {mode: 0644, x: &a yes, y: *a}\n---\napiVersion: v1\nkind: List\nitems: []\n',
    `\x04${JSON.stringify({ tag_name: 'v1', draft: false, created_at: 'x', assets: [{ id: 1, name: 'a', size: 3, digest }] })}`,
  ],
  // JSON.parse is not what is tried for the list of GitHub.
  refusals: [BadReleaseError, RenderError, SyntaxError],
  parse: (input) => {
    const text = input.subarray(1).toString();
    switch ((input[0] ?? 0) % 5) {
      case 0:
        for (const { name } of parseReleaseManifest(text, 'release', defaultAssetLimits).files)
          kept(!name.includes('/') && name !== '..' && name !== '.', 'a file stays in its folder');
        return;
      case 1:
        parseReleaseMetadata(text);
        return;
      case 2:
        parseClusterAddonConfig(text);
        return;
      case 3:
        for (const { metadata } of readManifests(text, 'chart'))
          kept(typeof metadata.name === 'string', 'objects have names');
        return;
      default:
        githubRelease(JSON.parse(text), 'github');
    }
  },
};
