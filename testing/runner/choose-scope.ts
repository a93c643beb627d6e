import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import { toolPins } from '../../e2e/tools/pins.ts';
import { missingTools } from '../../e2e/tools/resolve.ts';
import { testScopeVariable } from './test-scope.ts';

/** What clusters of an older minor are made of. */
const ofMinor = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kubeadm', 'kube-proxy'];

/**
 * Prints the scope that `.ci/run` has unless it is told: the core where more than a quarter of the programs are still to be made, else
 * the whole. The programs of three older minors take half an hour.
 */
const usual = toolPins({})
  .filter(({ byNameOnly }) => byNameOnly !== true)
  .map(({ name }) => name);
const [, ...older] = kubernetesReleases.filter(({ inTests }) => inTests === 'all');
let wanted = usual.length;
const missing = [...(await missingTools(usual))];
for (const { version: kubernetes } of older) {
  wanted += ofMinor.length;
  missing.push(...(await missingTools(ofMinor, { kubernetes })));
}
const scope = missing.length > wanted / 4 ? 'core' : 'whole';
process.stderr.write(`${missing.length} of ${wanted} programs are still to be made: ${testScopeVariable}=${scope}\n`);
process.stdout.write(`${scope}\n`);
