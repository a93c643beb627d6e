import type { ManagementCluster } from '../connect/management-cluster.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import type { World } from '../frame/world.ts';
import { dataText } from '../output/print-objects.ts';
import { stepStates } from './import-report.ts';
import type { ImportReport, ImportSource } from './import-report.ts';
import type { ImportWay, Located } from './import-way.ts';
import { renderImport } from './render-import.ts';
import { runSteps } from './run-steps.ts';

/** The options that the user gave. */
export interface ImportRequest {
  readonly from: ImportSource;
  readonly name: string;
  readonly dryRun: boolean;
  readonly undo: boolean;
  /** Do not ask for confirmation. */
  readonly yes: boolean;
  readonly output: 'table' | 'json' | 'yaml';
}

/**
 * Checks, asks for confirmation, imports and reports; or undoes an import.
 * @throws PluginError if it is refused, or cannot be completed.
 */
export async function takeOver<S extends Located>(
  request: ImportRequest,
  way: ImportWay<S>,
  { world, management }: { readonly world: World; readonly management: ManagementCluster },
): Promise<void> {
  const { from, name, output } = request;
  const { cluster, signal } = management;
  const facts = await way.read();
  const { namespace } = facts;
  const run = { name, read: way.read, world, cluster, signal };
  const steps = request.undo ? way.undoSteps : way.steps;
  const print = (more: Pick<ImportReport, 'result'> & Partial<ImportReport>, at: S = facts): void => {
    const about = { problems: [], warnings: [], identity: at.identity, steps: stepStates(steps, at) };
    const whole: ImportReport = { from, namespace, name, ...about, ...more };
    world.out(output === 'table' ? renderImport(whole) : dataText(whole, output));
  };
  if (request.undo) await goBack();
  else await goThere();

  async function goBack(): Promise<void> {
    const why = way.noWayBack(facts);
    if (why !== undefined) throw new PluginError(why);
    if (request.dryRun) {
      print({ result: 'planned' });
      return;
    }
    await agree(`Undo the import of ${namespace}/${name}?`);
    print({ result: 'undone' }, await runSteps({ ...run, steps }));
  }

  async function goThere(): Promise<void> {
    const over = way.over(facts);
    if (over !== undefined) {
      world.note(over);
      return;
    }
    const [problems, warnings] = [way.problems(facts), way.warnings(facts)];
    if (problems.length > 0) {
      print({ result: 'refused', problems, warnings });
      throw new PluginError(`${namespace}/${name} cannot be imported: ${problems.join('; ')}`);
    }
    if (request.dryRun) {
      const plan = await way.plan(facts);
      print({ result: 'planned', warnings, ...(plan !== undefined && { plan }) });
      return;
    }
    for (const warning of warnings) world.note(`warning: ${warning}`);
    await agree(`Import ${namespace}/${name}? --dry-run shows the steps.`);
    const after = await runSteps({ ...run, steps });
    print({ result: 'imported', warnings }, after);
  }

  async function agree(question: string): Promise<void> {
    if (request.yes) return;
    if (!world.interactive)
      throw new PluginError(`${question} There is no terminal to answer at: add --yes`, exitCodes.usage);
    if (!(await world.confirm(question))) throw new PluginError('nothing was changed');
  }
}
