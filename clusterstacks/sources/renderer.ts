import type { Key, Manifest } from '../../api/meta.ts';

/** What a chart is rendered with. */
export interface RenderRequest {
  /** A Helm package, a folder with `Chart.yaml`, or a folder of `*.yaml` manifests. */
  readonly chart: string;
  readonly releaseName: string;
  readonly namespace: string;
  /** A values file in YAML. */
  readonly values?: string;
  /** `vX.Y.Z` that `.Capabilities.KubeVersion` shows. */
  readonly kubernetesVersion?: string;
  /** What `.Capabilities.APIVersions` holds beside Helm's own, for example `monitoring.coreos.com/v1`. */
  readonly apiVersions?: readonly string[];
  /** Who requests it: turns are fair between namespaces, and each requester has one at a time. Default: the chart. */
  readonly requester?: Key;
}

/** A Go template, such as `overwrite.yaml`, and what it sees. */
export interface ExpandRequest {
  readonly template: string;
  /** What the template sees as `.`, in JSON. */
  readonly root: Readonly<Record<string, unknown>>;
  /** As in `RenderRequest`. */
  readonly requester?: Key;
}

/** Renders charts to manifests. Throws `RenderError` with the chart's own message; never prints values. */
export interface Renderer {
  /** Objects in the chart's order, CRDs included; tests and hooks that run at deletion or rollback are left out. */
  render(request: RenderRequest, signal: AbortSignal): Promise<readonly Manifest[]>;
  /** The template expanded with its root. */
  expand(request: ExpandRequest, signal: AbortSignal): Promise<string>;
}
