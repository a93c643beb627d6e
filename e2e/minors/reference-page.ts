import { kubernetesReleases } from '../tools/kubernetes-releases.ts';
import type { MinorResult } from './minor-result.ts';
import { minorOf } from './results-file.ts';

const seconds = (count: number): string => `${count.toFixed(1)} s`;

const inCell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', String.raw`\|`);

function upgradeText({ upgrade, noUpgrade }: MinorResult): string {
  if (upgrade === undefined) return noUpgrade === undefined ? '' : `none: ${noUpgrade}`;
  const { to, calls, failedCalls } = upgrade;
  return `to ${to} in ${seconds(upgrade.seconds)}; ${failedCalls} of ${calls} calls failed`;
}

function row({ version, minor }: { readonly version: string; readonly minor: string }, result?: MinorResult): string {
  const cells =
    result === undefined
      ? [minor, version, 'not run', '', '', '']
      : [
          ...[minor, result.version, result.error === undefined ? result.outcome : `failed: ${result.error}`],
          result.secondsToReady === undefined ? '' : seconds(result.secondsToReady),
          ...[upgradeText(result), `${result.date.slice(0, 10)}, \`${result.commit}\``],
        ];
  return `| ${cells.map(inCell).join(' | ')} |`;
}

/** docs/reference/minors.md: which minors of Kubernetes have run with a worker and a pod, when, and of which commit. */
export function minorsPage(results: readonly MinorResult[]): string {
  const resultOf = (minor: string): MinorResult | undefined =>
    results.find(({ version }) => minorOf(version) === minor);
  const notPassed = kubernetesReleases
    .map(({ minor }) => minor)
    .filter((minor) => resultOf(minor)?.outcome !== 'passed');
  const missing =
    notPassed.length === 0
      ? 'Every supported minor has passed.'
      : `Not passed: ${notPassed.toReversed().join(', ')}. Of these, certificates, documents and add-ons are only compared with those of the real kubeadm. The webhooks warn about them.`;
  return [
    '<!-- Written by `npm run gen` from e2e/minors/results.json; do not edit. -->',
    '',
    '# Kubernetes minors',
    '',
    'For each minor, `npm run minors` creates a tenant with CoreDNS, kube-proxy and konnectivity. A worker of the same minor joins it with the',
    'real kubeadm and kubelet. A pod resolves `kubernetes.default.svc` and calls the API server every second. Its logs are read through',
    'konnectivity: the port of the kubelet is closed to everything else. While the pod calls, the control plane is upgraded to the next minor,',
    'and no call may fail. In the end the tenant is deleted. All programs are those of the pinned version, built from its Go module or',
    'downloaded from its publisher. All of this runs on one management cluster of the newest minor, with one replica of each control plane.',
    '',
    missing,
    '',
    '| Minor | Version | Result | Ready after | Upgrade | Run |',
    '| --- | --- | --- | ---: | --- | --- |',
    ...kubernetesReleases.map((release) => row(release, resultOf(release.minor))),
    '',
    'The seconds are those of one run. They count from the request that creates the tenant, or changes its version, with all images on the node.',
    '[How to run it](../how-to/run-tests.md#every-kubernetes-minor).',
    '',
  ].join('\n');
}
