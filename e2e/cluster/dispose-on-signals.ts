/**
 * Disposes of a resource when this process gets SIGINT, SIGTERM or SIGHUP, then ends the process as the signal would.
 * Whoever owns the resource calls it; disposing of the result lets go of the signals again.
 */
export function disposeOnSignals(resource: AsyncDisposable): Disposable {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let disposing = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    // A second Ctrl-C of an impatient person must not cut the removal short.
    if (disposing) return;
    disposing = true;
    const end = (code: number): void => {
      process.exit(code);
    };
    Promise.resolve(resource[Symbol.asyncDispose]()).then(
      () => {
        end(signal === 'SIGINT' ? 130 : 143);
      },
      (error: unknown) => {
        console.error(error);
        end(1);
      },
    );
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
