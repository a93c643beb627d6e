import { Cron } from 'croner';
import { goDuration } from '../../api/go-duration.ts';

/** When backups are taken: by a cron expression with five fields, or after an interval in Go's form. */
export interface BackupSchedule {
  readonly schedule?: string;
  /** An IANA time zone for the expression; UTC by default. */
  readonly timeZone?: string;
  readonly interval?: string;
}

/** A schedule that means nothing. The message is for a person. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

/** The moment of the backup that follows one; undefined for an expression without a future. Throws `ScheduleError`. */
export function nextBackup({ schedule, timeZone, interval }: BackupSchedule, after: Date): Date | undefined {
  if (interval !== undefined) return new Date(after.getTime() + goDuration(interval));
  if (schedule === undefined) return undefined;
  try {
    const cron = new Cron(schedule, { timezone: timeZone ?? 'UTC', mode: '5-part', paused: true });
    return cron.nextRun(after) ?? undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const zone = timeZone === undefined ? '' : ` in the time zone "${timeZone}"`;
    throw new ScheduleError(
      `"${schedule}"${zone} is not a schedule: ${why}; use five fields, e.g. "0 * * * *", and a zone such as Europe/Berlin`,
      { cause: error },
    );
  }
}
