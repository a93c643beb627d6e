/**
 * Writes what follows from the code: CustomResourceDefinitions, the manager's ClusterRole, the reference pages,
 * what the Helm charts have in common with them, the figures that follow from bench/results, which minors of
 * Kubernetes have run, and the pictures of the documentation.
 *
 *     npm run gen                  writes
 *     npm run gen -- --check       writes nothing; exits 1 and names each file that differs
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { allKinds } from '../api/all-kinds.ts';
import { fieldCoveragePage } from '../api/generate/field-coverage.ts';
import type { FieldCoverage } from '../api/generate/field-coverage.ts';
import { generatedDirectories, generatedFiles, rolesFile } from '../api/generate/generated-files.ts';
import { yamlText } from '../api/generate/yaml-text.ts';
import { figurePages } from '../bench/report/figure-pages.ts';
import { pictureFiles, pictureFolder } from '../docs/site/pictures/picture-files.ts';
import { readPages } from '../docs/site/read-pages.ts';
import { commandsPage } from '../docs/site/reference/commands-page.ts';
import { imagePages } from '../docs/site/reference/image-pages.ts';
import { quickStartImages } from '../docs/site/reference/quick-start-images.ts';
import { sizingPage } from '../docs/site/reference/sizing-page.ts';
import { supportedVersionsPage } from '../docs/site/reference/supported-versions-page.ts';
import { minorsPage } from '../e2e/minors/reference-page.ts';
import { readMinorResults } from '../e2e/minors/results-file.ts';
import { chartFiles, definitionFolder } from './chart/chart-files.ts';
import {
  activatorRoles,
  clusterStacksRole,
  declaredRoles,
  hostingRole,
  runtimeExtensionRole,
} from './declared-access.ts';
import { recipe } from '../controllers/tenantcontrolplane/recipe.ts';
import { clusterctlPatch } from './flags/clusterctl-variables.ts';
import { clusterctlVariablesPage } from './flags/clusterctl-variables-page.ts';
import { documentedCommands, flagsPage } from './flags/flags-page.ts';
import { argoCdConfigMap } from './gitops/argo-cd-health.ts';
import { fluxPatch } from './gitops/flux-health-checks.ts';
import { healthRules } from './gitops/health-rules.ts';
import { metricsPage } from './metrics/metrics-page.ts';
import { alerts } from './monitoring/alerts.ts';
import { alertsPage } from './monitoring/alerts-page.ts';
import { dashboards } from './monitoring/dashboards/all-dashboards.ts';
import { grafanaJson } from './monitoring/dashboards/grafana-json.ts';
import { prometheusRule, ruleGroups } from './monitoring/prometheus-rules.ts';
import { pluginPage } from './plugin/plugin-page.ts';
import { pluginProgram } from './plugin/program.ts';
import { systemWorld } from './plugin/system-world.ts';
import { phasesPage } from './phases-page.ts';
import { promisesPage } from '../testing/repository/promises-page.ts';
import type { PromiseGroup } from '../testing/repository/promises-page.ts';
import { threatsPage } from '../testing/repository/threats-page.ts';
import type { ThreatGroup } from '../testing/repository/threats-page.ts';

const yamlHeader = '# Made by `npm run gen`; do not edit.\n';
const root = join(import.meta.dirname, '..');

/** Files in generated directories that nothing generates anymore. */
function leftovers(files: ReadonlyMap<string, string>): readonly string[] {
  return [...generatedDirectories, definitionFolder, pictureFolder, 'charts/steward/files/dashboards']
    .filter((directory) => existsSync(join(root, directory)))
    .flatMap((directory) => readdirSync(join(root, directory)).map((name) => `${directory}/${name}`))
    .filter((path) => !files.has(path));
}

function differs(path: string, content: string): boolean {
  return !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== content;
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** What is noted beside the tests: which of them show a field, a promise, or the protection against a threat. */
function noted(name: string): unknown {
  return parse(readFileSync(join(root, `testing/repository/${name}.yaml`), 'utf8'));
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((argument) => argument !== '--check');
  if (unknown !== undefined) {
    console.error(`unknown argument ${unknown}; usage: npm run gen [-- --check]`);
    return 2;
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const files = new Map([
    ...generatedFiles(allKinds, declaredRoles),
    ['config/clusterstacks/role.yaml', rolesFile([clusterStacksRole])],
    ['config/clusterstacks/runtime-extension/role.yaml', rolesFile([runtimeExtensionRole])],
    ['config/activator/role.yaml', rolesFile(activatorRoles)],
    ['config/hosting/role.yaml', rolesFile([hostingRole])],
    ['config/monitoring/prometheus-rule.yaml', `${yamlHeader}${yamlText(prometheusRule(alerts))}`],
    ['config/gitops/argocd-cm.yaml', `${yamlHeader}${argoCdConfigMap(healthRules)}`],
    ['config/gitops/flux-health-checks.yaml', `${yamlHeader}${fluxPatch(healthRules)}`],
    ['charts/steward/files/alerts.yaml', `${yamlHeader}${yamlText(ruleGroups(alerts))}`],
    ...dashboards.map((one) => [`charts/steward/files/dashboards/${one.name}.json`, grafanaJson(one)] as const),
    ['docs/reference/generated/alerts.md', alertsPage(alerts)],
    ['docs/reference/generated/flags.md', flagsPage(documentedCommands)],
    ['docs/reference/generated/clusterctl-variables.md', clusterctlVariablesPage()],
    ['clusterctl/manager-variables.yaml', `${yamlHeader}${yamlText(clusterctlPatch())}`],
    [
      'docs/reference/generated/kubectl-steward.md',
      pluginPage(pluginProgram(systemWorld(new AbortController().signal))),
    ],
    ['docs/reference/generated/metrics.md', metricsPage()],
    ['docs/reference/generated/phases.md', phasesPage(recipe)],
    ['docs/reference/field-coverage.md', fieldCoveragePage(allKinds, noted('field-coverage') as FieldCoverage)],
    ['docs/reference/promises.md', promisesPage(noted('promises') as readonly PromiseGroup[])],
    ['docs/reference/threats.md', threatsPage(noted('threats') as readonly ThreatGroup[])],
    ['docs/reference/minors.md', minorsPage(await readMinorResults())],
    ...pictureFiles(),
    ...imagePages(version, quickStartImages(root)),
    ['docs/reference/generated/supported-versions.md', supportedVersionsPage()],
    commandsPage(readPages(root).pages),
    await sizingPage(root),
    ...chartFiles(root, { kinds: allKinds, roles: [...declaredRoles, ...activatorRoles], clusterStacksRole }),
    ...(await figurePages(root)),
  ]);
  const changed = [...files].filter(([path, content]) => differs(path, content));
  const extra = leftovers(files);
  if (args.includes('--check')) {
    for (const [path] of changed) console.error(`${path} is not what the code generates: run \`npm run gen\``);
    for (const path of extra) console.error(`${path} is no longer generated: run \`npm run gen\`, which removes it`);
    return changed.length + extra.length === 0 ? 0 : 1;
  }
  for (const [path, content] of changed) {
    write(path, content);
    console.log(`wrote ${path}`);
  }
  for (const path of extra) {
    rmSync(join(root, path));
    console.log(`removed ${path}`);
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
