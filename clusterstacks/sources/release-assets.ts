import type { ClusterAddonConfig } from './cluster-addon-config.ts';
import type { ReleaseMetadata } from './release-metadata.ts';

/** The add-ons of a release. */
export type AddonAssets =
  /** A folder of charts (or of plain manifests), one for each stage, and the order in which they are applied. */
  | { readonly mode: 'stages'; readonly folder: string; readonly config: ClusterAddonConfig }
  /** One Helm package and its values template, as releases had them before there were stages. */
  | { readonly mode: 'single-chart'; readonly chart: string; readonly valuesTemplate?: string };

/** A release on this machine, complete and checked. Paths are absolute and stay while the manager runs. */
export interface ReleaseAssets {
  readonly digest: string;
  /** The source's address and the tag it was found under. */
  readonly source: string;
  readonly tag: string;
  readonly metadata: ReleaseMetadata;
  /** The Helm package of the ClusterClass and its templates. */
  readonly clusterClassChart: string;
  readonly addons?: AddonAssets;
}
