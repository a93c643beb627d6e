import { execFile } from 'node:child_process';
import type { ToolPin } from './pins.ts';

/** The first version number in what a program printed, with a leading v; undefined when there is none. */
export const versionIn = (output: string): string | undefined => {
  const match = /(?<![\d.])v?(\d+\.\d+\.\d+(?!\.?\d)(?:-[0-9A-Za-z.-]+)?)/.exec(output);
  return match?.[1] === undefined ? undefined : `v${match[1]}`;
};

/**
 * Runs a binary and reads the version that it prints; undefined when it cannot tell, fails to start or takes longer than 5 s.
 * The exit code does not matter.
 */
export const printedVersion = async (binary: string, pin: ToolPin): Promise<string | undefined> => {
  const versionArguments = pin.versionArguments;
  if (versionArguments === undefined) return undefined;
  return new Promise((resolve) => {
    const child = execFile(
      binary,
      versionArguments,
      { timeout: 5000, env: { PATH: '/usr/bin:/bin' } },
      (_error, stdout, stderr) => {
        resolve(versionIn(stdout) ?? versionIn(stderr));
      },
    );
    child.stdin?.end();
  });
};
