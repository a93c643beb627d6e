import { Cron } from 'croner';
import { goDuration } from '../../api/go-duration.ts';

/** When backups are taken: by a cron expression with five fields, or after an interval in Go's form. */
export interface BackupSchedule {
  readonly schedule?: string;
  /** An IANA time zone for the expression; UTC by default. */
  readonly timeZone?: string;
  readonly interval?: string;
}

/** An invalid schedule. The message is for a person. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
  /** What is wrong. */
  readonly field: 'schedule' | 'timeZone';
  constructor(field: ScheduleError['field'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
  }
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
    if (timeZone !== undefined && !isTimeZone(timeZone))
      throw new ScheduleError('timeZone', `"${timeZone}" is not a time zone: use one such as Europe/Berlin`, {
        cause: error,
      });
    throw new ScheduleError('schedule', `"${schedule}" is not a schedule: ${why}; use five fields, e.g. "0 * * * *"`, {
      cause: error,
    });
  }
}

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
