import type { Tenant } from '../driver.ts';
import { runAttempts } from '../isolation/run-attempts.ts';
import type { AttemptsResult } from '../isolation/run-attempts.ts';
import type { Stage } from './stage.ts';

/** Runs every attack of one tenant on another, and on the server. Nothing that the server holds may change meanwhile. */
export async function runMatrix<Config>(
  { probe, store: { config } }: Pick<Stage<Config>, 'probe' | 'store'>,
  attacker: Tenant,
  victim: Tenant,
): Promise<AttemptsResult> {
  await using attack = await probe.attack(config, attacker, victim);
  return await runAttempts(attack, probe);
}

/** Adds results of one question up. */
export function sum(results: readonly AttemptsResult[]): AttemptsResult {
  return {
    attempts: results.reduce((total, { attempts }) => total + attempts, 0),
    breaches: results.flatMap(({ breaches }) => breaches),
    unclear: results.flatMap(({ unclear }) => unclear),
  };
}

/** Prints attempts and breaches, so that a log shows how much was tried. */
export function reportIsolation(title: string, { attempts, breaches }: AttemptsResult, what = ''): void {
  process.stderr.write(`isolation ${title}${what}: ${attempts} attempts, ${breaches.length} breaches\n`);
}
