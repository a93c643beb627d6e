import type { SealedFolder } from '../../stores/backup/sealed-folder.ts';
import type { StoreAccess } from '../../stores/store-access.ts';
import type { CommandParts } from '../command-parts.ts';
import type { Report } from './status-report.ts';

/** What a backup and a restore work with. */
export interface BackupParts extends Omit<CommandParts, 'stores'> {
  readonly stores: Pick<StoreAccess, 'open'>;
  /** That of the control plane that is, or was, backed up. */
  readonly folder: SealedFolder;
  /** Reports the progress in the object that the process works for. */
  readonly report: Report;
}
