import { runCommand } from '../../../e2e/cluster/machines/run-command.ts';
import { resolveTools } from '../../../e2e/tools/resolve.ts';

/** An object, and what Argo CD and Flux are told to look at. */
export interface HealthQuestion {
  readonly object: object;
  /** A health script of Argo CD. */
  readonly lua: string;
  /** Expressions of Flux's `healthCheckExprs`. */
  readonly flux: { readonly current: string; readonly failed?: string; readonly inProgress?: string };
}

/** What the two take an object for. */
export interface ToldHealth {
  readonly argo?: { readonly status: string; readonly message?: string };
  readonly argoError?: string;
  /** The status that kstatus computes without any expressions. */
  readonly kstatus: string;
  readonly flux?: string;
  readonly fluxError?: string;
}

/** Asks the interpreter of Argo CD and the packages of Flux, in the order of the questions. */
export async function tellHealth(questions: readonly HealthQuestion[]): Promise<readonly ToldHealth[]> {
  const tools = await resolveTools(['gitops-health']);
  const input = questions.map((question) => JSON.stringify(question)).join('\n');
  const { stdout } = await runCommand(tools['gitops-health'], [], { input });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as ToldHealth);
}
