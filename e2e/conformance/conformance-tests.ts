import { parse } from 'yaml';

import { runCommand } from '../cluster/machines/run-command.ts';

/** One test that belongs to Kubernetes' conformance. */
export interface ConformanceTest {
  /** As it is called in reports, `[sig-node] Pods should be submitted and removed [Conformance]`. */
  readonly name: string;
  /** Its special interest group, `sig-node`. */
  readonly sig: string;
  /** Whether no other test may run beside it. */
  readonly serial: boolean;
}

/** The special interest group in the name of a test. */
export function groupOf(name: string): string {
  return /\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? 'unknown';
}

/** Reads what `e2e.test --list-conformance-tests` prints: those that others may run beside first, else in its order. */
export function parseConformanceTests(text: string): readonly ConformanceTest[] {
  const rows = parse(text) as readonly { readonly codename: string }[];
  return rows
    .map(({ codename: name }) => ({
      name,
      sig: groupOf(name),
      serial: /\[(Serial|Disruptive)\]/.test(name),
    }))
    .toSorted((a, b) => Number(a.serial) - Number(b.serial));
}

/** All conformance tests of this binary. */
export async function listConformanceTests(e2eTest: string): Promise<readonly ConformanceTest[]> {
  const { stdout } = await runCommand(e2eTest, ['--list-conformance-tests'], { timeoutMs: 120_000 });
  return parseConformanceTests(stdout);
}
