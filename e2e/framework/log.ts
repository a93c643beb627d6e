const started = performance.now();

/** Prints what a scenario saw, with the seconds since it began, to the standard error output. */
export function logStep(step: string, detail = ''): void {
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(1)} s  ${step} ${detail}\n`);
}
