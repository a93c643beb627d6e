import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import { toolPins } from '../../e2e/tools/pins.ts';
import type { ToolPin, WantedReleases } from '../../e2e/tools/pins.ts';
import { missingTools } from '../../e2e/tools/resolve.ts';
import { comparedReleases } from '../repository/compared-releases.ts';
import { buildMinutes, mostBuildMinutes } from './build-minutes.ts';
import { testScopeVariable } from './test-scope.ts';

/** What clusters of an older minor are made of. */
const ofMinor = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kubeadm', 'kube-proxy'];

const unmade = async (pins: readonly ToolPin[], releases: WantedReleases): Promise<readonly string[]> => {
  const folders: string[] = [];
  for (const { name, source } of pins)
    if ((await missingTools([name], releases)).length > 0) folders.push(source.folder);
  return folders;
};

/**
 * Prints the scope that `.ci/run` has unless it is told: the core where the programs that are still to be made take long, else the
 * whole. The programs of three older minors take half an hour.
 */
const folders = [
  ...(await unmade(
    toolPins({}).filter(({ byNameOnly }) => byNameOnly !== true),
    {},
  )),
];
const [, ...older] = kubernetesReleases;
for (const { version: kubernetes, inTests } of older) {
  const names =
    inTests === 'all' ? ofMinor : comparedReleases().some(({ version }) => version === kubernetes) ? ['kubeadm'] : [];
  const pins = toolPins({ kubernetes }).filter(({ name }) => names.includes(name));
  folders.push(...(await unmade(pins, { kubernetes })));
}
const minutes = buildMinutes(folders);
const scope = minutes > mostBuildMinutes ? 'core' : 'whole';
process.stderr.write(
  `Programs that take about ${minutes} minutes are still to be made: ${testScopeVariable}=${scope}\n`,
);
process.stdout.write(`${scope}\n`);
