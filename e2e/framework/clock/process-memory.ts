import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

import type { VdsoImage } from './vdso-image.ts';
import { readVdsoImage } from './vdso-image.ts';

/** AT_SYSINFO_EHDR of getauxval(3). */
const vdsoEntry = 33n;

/** True for an error that says that a process has ended, or has no memory anymore. */
export function isEnded(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'EIO', 'EACCES', 'EFAULT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Where the vDSO of a process is mapped; undefined if it has none of 64 bits, such as threads of the kernel, or has ended. It changes with exec. */
export function vdsoAddress(pid: number): number | undefined {
  let vector: Buffer;
  try {
    vector = readFileSync(`/proc/${pid}/auxv`);
  } catch (error) {
    if (isEnded(error)) return undefined;
    throw error;
  }
  for (let at = 0; at + 16 <= vector.length; at += 16)
    if (vector.readBigUInt64LE(at) === vdsoEntry) return Number(vector.readBigUInt64LE(at + 8));
  return undefined;
}

/** The vDSO of this process, which is that of all processes of this kernel with 64 bits, if it was not changed. */
export function ownVdsoImage(): VdsoImage {
  const mapping = /^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$/m.exec(readFileSync('/proc/self/maps', 'utf8'));
  if (mapping === null) throw new Error('This process has no vDSO.');
  const [from = 0, to = 0] = mapping.slice(1).map((text) => Number.parseInt(text, 16));
  using memory = new ProcessMemory(process.pid);
  return readVdsoImage(memory.read(from, to - from));
}

/** The memory of a process, including code: proc_pid_mem(5). What is written is seen by this process and those that it forks afterwards. */
export class ProcessMemory implements Disposable {
  readonly #file: number;

  /** Stays with the program that runs now: after an exec, nothing can be read or written. */
  constructor(pid: number) {
    this.#file = openSync(`/proc/${pid}/mem`, 'r+');
  }

  read(address: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    const read = readSync(this.#file, bytes, 0, length, address);
    return bytes.subarray(0, read);
  }

  /** @returns whether it was written. */
  write(address: number, bytes: Buffer): boolean {
    return writeSync(this.#file, bytes, 0, bytes.length, address) === bytes.length;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
