import { execFile } from 'node:child_process';

const runLdd = async (binaries: readonly string[]): Promise<{ stdout: string; stderr: string; failed: boolean }> =>
  new Promise((resolve) => {
    execFile('ldd', binaries, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ stdout, stderr: stderr === '' ? (error?.message ?? '') : stderr, failed: error !== null });
    });
  });

/** The files that `ldd` names in its output, each once, sorted. Throws an error that names a library which was not found. */
export const librariesIn = (output: string): readonly string[] => {
  const absent = /^\s*(\S+) => not found/m.exec(output);
  if (absent?.[1] !== undefined)
    throw new Error(`The library ${absent[1]} is missing on this machine; install its package`);
  const found = [...output.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)/gm)].map((match) => match[1] ?? '');
  return [...new Set(found)].sort();
};

/**
 * Absolute paths of all shared libraries, the loader included, that these binaries of this machine need.
 * Empty for static ones. In an image they belong at the same paths.
 */
export const libraryFiles = async (...binaries: readonly string[]): Promise<readonly string[]> => {
  const { stdout, stderr, failed } = await runLdd(binaries);
  // ldd fails for a static binary, but still tells about the others.
  if (failed && !`${stdout}${stderr}`.includes('not a dynamic executable')) {
    throw new Error(`ldd ${binaries.join(' ')} failed: ${stderr.trim()}`);
  }
  return librariesIn(stdout);
};
