import type { ClockPatch } from './clock-patch.ts';
import { jumpSize, offsetBytes } from './clock-patch.ts';
import { ProcessMemory, isEnded } from './process-memory.ts';
import type { VdsoImage } from './vdso-image.ts';
import { whileStopped } from './while-stopped.ts';

/** What became of it: `Busy` is to be tried again; `Foreign` has another vDSO than this kernel gives to processes with 64 bits. */
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
 * The first time, its threads are stopped for that, and must not be at the few bytes that are overwritten. Afterwards, only the offset is written.
 * @param address of its vDSO.
 */
export function moveProcess(pid: number, address: number, { image, patch, offset }: ClockMove): MoveResult {
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
      !jumps.some((jump) => at > address + jump.at && at < address + jump.at + jumpSize);
    const isMoved = whileStopped(pid, isAllowed, () => {
      for (const jump of jumps) memory.write(address + jump.at, jump.bytes);
    });
    return isMoved ? 'Moved' : 'Busy';
  } catch (error) {
    if (isEnded(error)) return 'Ended';
    throw error;
  }
}
