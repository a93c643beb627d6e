import { runPluginProcess } from './plugin/run-process.ts';

/** The plugin on its own: a program of this name in the PATH is what `kubectl steward` starts. */
process.exitCode = await runPluginProcess(process.argv.slice(2));
