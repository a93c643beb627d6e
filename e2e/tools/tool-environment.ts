import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Platform } from './pins.ts';

/** All that the resolution of tools takes from the process's surroundings. */
export interface ToolEnvironment {
  readonly platform: Platform;
  /** Folders whose binaries are taken when their version is the pinned one: `KUBEBUILDER_ASSETS`, then those of `PATH`. */
  readonly binFolders: readonly string[];
  readonly cacheFolder: string;
  /** The environment that `go` and package managers are started with. */
  readonly variables: NodeJS.ProcessEnv;
}

const platformOf = (os: string, cpu: string): Platform => {
  const arch = { x64: 'amd64', arm64: 'arm64' }[cpu];
  if ((os !== 'linux' && os !== 'darwin') || (arch !== 'amd64' && arch !== 'arm64')) {
    throw new Error(`The pinned tools exist for Linux and macOS on amd64 and arm64; this is ${os} on ${cpu}.`);
  }
  return { os, arch };
};

/** Reads the environment of this process: the one place of e2e/tools that does. */
export const toolEnvironment = (variables: NodeJS.ProcessEnv = process.env): ToolEnvironment => {
  const cacheHome = variables.XDG_CACHE_HOME ?? join(variables.HOME ?? homedir(), '.cache');
  const assets = variables.KUBEBUILDER_ASSETS;
  const path = (variables.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return {
    platform: platformOf(process.platform, process.arch),
    binFolders: [...new Set([...(assets === undefined || assets === '' ? [] : [assets]), ...path])],
    cacheFolder: variables.STEWARD_CACHE ?? join(cacheHome, 'steward'),
    variables,
  };
};
