import { exitCodes } from './frame/exit-codes.ts';
import { runPlugin } from './program.ts';
import { systemWorld } from './system-world.ts';

/** Runs the plugin as this process and returns its exit code. A second Ctrl-C ends it at once. */
export async function runPluginProcess(args: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(exitCodes.interrupted);
      stop.abort(new Error(`interrupted (${name})`));
    });
  }
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader, such as `head`, has seen enough.
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    throw error;
  });
  return runPlugin(args, systemWorld(stop.signal));
}
