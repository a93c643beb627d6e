import type { Attempt, StoreUnderTest, Tenant } from './driver-contract.ts';

/** What became of a set of attacks. */
export interface MatrixResult {
  readonly attempts: number;
  /** What the server allowed. */
  readonly breaches: readonly string[];
  /** What failed for another reason than a refusal: it says nothing about isolation. */
  readonly unclear: readonly string[];
}

/** Tries all, one after the other. */
export async function runAttempts<Config>(
  store: StoreUnderTest<Config>,
  attacks: readonly Attempt[],
): Promise<MatrixResult> {
  const breaches: string[] = [];
  const unclear: string[] = [];
  for (const attack of attacks) {
    try {
      await attack.run();
      breaches.push(attack.name);
    } catch (error) {
      if (!store.isRefusal(error)) unclear.push(`${attack.name}: ${String(error)}`);
    }
  }
  return { attempts: attacks.length, breaches, unclear };
}

/** Runs every attack of one tenant on another. */
export async function runMatrix<Config>(
  store: StoreUnderTest<Config>,
  attacker: Tenant,
  victim: Tenant,
): Promise<MatrixResult> {
  return runAttempts(store, await store.attacks(attacker, victim));
}

/** Adds results of one question up. */
export function sum(results: readonly MatrixResult[]): MatrixResult {
  return {
    attempts: results.reduce((total, { attempts }) => total + attempts, 0),
    breaches: results.flatMap(({ breaches }) => breaches),
    unclear: results.flatMap(({ unclear }) => unclear),
  };
}

/** Prints attempts and breaches, so that a log shows how much was tried. */
export function reportIsolation(title: string, { attempts, breaches }: MatrixResult, what = ''): void {
  process.stderr.write(`isolation ${title}${what}: ${attempts} attempts, ${breaches.length} breaches\n`);
}
