import { describeFailure } from '../../runtime/observe/describe-failure.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import { RepositoryError } from '../../stores/backup/backup-repository.ts';
import { withCommandParts } from '../command-parts.ts';
import type { CommandParts } from '../command-parts.ts';
import { UsageError } from '../flags/flags.ts';
import { BackupRefusal } from './backup-refusal.ts';
import { repositoryOpener } from './open-repository.ts';
import type { OpenRepository, RepositoryFlags } from './open-repository.ts';
import { noReport, parseReported, statusReport } from './status-report.ts';
import type { Report, Reported } from './status-report.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A control plane as `namespace/name` names it. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** The flags of `steward backup` and of `steward restore`. */
export type CommonFlags = RepositoryFlags & {
  readonly kubeconfig: string;
  readonly 'key-file': string;
  readonly 'key-secret': string;
  readonly folder: string;
  readonly report: string;
};

/** What a command has once its repository is open. */
interface InRepository {
  readonly repository: OpenRepository;
  /** The folder of the control plane. */
  readonly folderName: string;
  readonly parts: CommandParts;
  readonly report: Report;
  /** UID of the object that is reported to. */
  readonly worksFor?: string;
}

/**
 * Opens the repository for some work, whose failure is reported. Returns the exit code.
 * @throws UsageError for invalid flags, before anything is contacted.
 */
export async function withRepository(
  flags: CommonFlags,
  { of, environment }: { readonly of: Named; readonly environment: Environment },
  work: (here: InRepository) => Promise<void>,
): Promise<number> {
  const open = repositoryOpener(flags, environment);
  const folderName = folderNameOf(flags, of);
  const reported = reportedBy(flags);
  return withCommandParts(
    { kubeconfig: flags.kubeconfig, environment },
    async (parts) => {
      const report = reported === undefined ? noReport : statusReport(reported, parts);
      await reportingProblems(report, async () => {
        const repository = await open(parts);
        try {
          await work({ repository, folderName, parts, report, worksFor: reported?.uid });
        } finally {
          repository[Symbol.dispose]?.();
        }
      });
    },
    logFailure,
  );
}

/** A report is short: it is one of many in the status. */
const longestProblem = 1000;

/** Reports why the work failed; that it cannot be reported hides nothing of it. */
async function reportingProblems(report: Report, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await report({ problem: describeFailure(error).slice(0, longestProblem) }).catch(() => undefined);
    throw error;
  }
}

function logFailure(error: unknown, log: Logger): void {
  const isPlain = error instanceof BackupRefusal || error instanceof RepositoryError;
  log.error(isPlain ? error.message : 'it was interrupted', isPlain ? {} : { error });
}

function folderNameOf({ folder }: Pick<CommonFlags, 'folder'>, { namespace, name }: Named): string {
  if (folder === '') return `${namespace}/${name}`;
  if (folder.split('/').every((part) => /^[A-Za-z0-9._-]+$/.test(part) && !/^\.+$/.test(part))) {
    return `${namespace}/${name}/${folder}`;
  }
  throw new UsageError(
    `--folder takes names with letters, digits, ".", "_" and "-", separated by "/", got "${folder}"`,
  );
}

function reportedBy({ report }: Pick<CommonFlags, 'report'>): Reported | undefined {
  if (report === '') return undefined;
  const reported = parseReported(report);
  if (reported !== undefined) return reported;
  throw new UsageError(`--report takes plural/namespace/name/uid of a kind of backups, got "${report}"`);
}
