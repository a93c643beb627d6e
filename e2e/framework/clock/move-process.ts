import type { ClockPatch } from './clock-patch.ts';
import { offsetBytes } from './clock-patch.ts';
import { ProcessMemory, isEnded } from './process-memory.ts';
import type { VdsoImage } from './vdso-image.ts';
import { waitForRest } from './wait-for-rest.ts';

/** What became of it. `Busy` has not waited yet, and is unchanged. `Foreign` has another vDSO than this kernel gives to processes with 64 bits. */
export type MoveResult = 'Moved' | 'Busy' | 'Foreign' | 'Ended';

/** How the clocks of processes are moved. */
export interface ClockMove {
  readonly image: VdsoImage;
  readonly patch: ClockPatch;
  /** Seconds from the clock of this machine. */
  readonly offset: number;
}

/**
 * Moves the clock on the wall of a process, as the TimeChaos of Chaos Mesh does, for all that it reads by its vDSO: programs of Go, Node and C do.
 * A thread must not stand within the bytes that are overwritten the first time. Stopping all threads by a signal would be seen by parents such as nsenter,
 * which stop then, too. Instead, each jump is one write of 8 bytes, at a moment at which all threads wait in the kernel, unless the process has only
 * started or never waits (`mayRun`): what remains is the chance that a thread is within the first two instructions of one of three functions just then.
 * Afterwards, only the offset is written.
 * @param address of its vDSO.
 */
export function moveProcess(pid: number, address: number, move: ClockMove & { readonly mayRun: boolean }): MoveResult {
  const { image, patch, offset, mayRun } = move;
  try {
    using memory = new ProcessMemory(pid);
    const { code, jumps, offsetAt } = patch;
    const has = ({ at, bytes }: { readonly at: number; readonly bytes: Buffer }): boolean =>
      memory.read(address + at, bytes.length).equals(bytes);
    if (jumps.every(has)) return memory.write(address + offsetAt, offsetBytes(offset)) ? 'Moved' : 'Ended';
    const original = { at: 0, bytes: image.bytes.subarray(0, image.end) };
    if (!has(original)) return 'Foreign';
    const isWritten =
      memory.write(address + code.at, code.bytes) && memory.write(address + offsetAt, offsetBytes(offset));
    if (!isWritten) return 'Ended';
    const isAllowed = (at: number): boolean =>
      !jumps.some((jump) => at > address + jump.at && at < address + jump.at + jump.bytes.length);
    if (!mayRun && !waitForRest(pid, isAllowed)) return 'Busy';
    return jumps.every((jump) => memory.write(address + jump.at, jump.bytes)) ? 'Moved' : 'Ended';
  } catch (error) {
    if (isEnded(error)) return 'Ended';
    throw error;
  }
}
