import type { VdsoImage } from './vdso-image.ts';

/** Bytes for a place in a vDSO, counted from the beginning of its mapping. */
export interface PlacedBytes {
  readonly at: number;
  readonly bytes: Buffer;
}

/** What is written into the vDSO of a process to move its clock. */
export interface ClockPatch {
  /** Where the offset is, as a signed number of 8 bytes: seconds. It is data, and can be changed while the process runs. */
  readonly offsetAt: number;
  /** Functions that read the clock by a system call and add the offset; to be written first. */
  readonly code: PlacedBytes;
  /** The beginnings of the functions of the kernel, which lead there. Nothing else of these functions changes. */
  readonly jumps: readonly PlacedBytes[];
}

/** `jmp` with an offset of 32 bits. */
const jumpSize = 5;

/** What is written in one piece: bytes behind the jump stay as they are. */
const wordSize = 8;

/** Of each function: its code, and where in it the distance to the offset belongs. */
interface Stub {
  readonly code: readonly number[];
  readonly distanceAt: number;
}

/** Of the clocks, only CLOCK_REALTIME (0) and CLOCK_REALTIME_COARSE (5) are moved. */
const stubs: ReadonlyMap<string, Stub> = new Map([
  [
    '__vdso_clock_gettime',
    {
      code: [
        ...[0xb8, 228, 0, 0, 0], // mov eax, clock_gettime
        ...[0x0f, 0x05], //         syscall
        ...[0x85, 0xc0], //         test eax, eax
        ...[0x75, 19], //           jne end
        ...[0x85, 0xff], //         test edi, edi
        ...[0x74, 5], //            je moved
        ...[0x83, 0xff, 5], //      cmp edi, 5
        ...[0x75, 10], //           jne end
        ...[0x48, 0x8b, 0x0d, 0, 0, 0, 0], // moved: mov rcx, [rip + distance]
        ...[0x48, 0x01, 0x0e], //   add [rsi], rcx
        0xc3, //                    end: ret
      ],
      distanceAt: 23,
    },
  ],
  [
    '__vdso_gettimeofday',
    {
      code: [
        ...[0xb8, 96, 0, 0, 0], //  mov eax, gettimeofday
        ...[0x0f, 0x05], //         syscall
        ...[0x85, 0xc0], //         test eax, eax
        ...[0x75, 15], //           jne end
        ...[0x48, 0x85, 0xff], //   test rdi, rdi
        ...[0x74, 10], //           je end
        ...[0x48, 0x8b, 0x0d, 0, 0, 0, 0], // mov rcx, [rip + distance]
        ...[0x48, 0x01, 0x0f], //   add [rdi], rcx
        0xc3, //                    end: ret
      ],
      distanceAt: 19,
    },
  ],
  [
    '__vdso_time',
    {
      code: [
        ...[0xb8, 201, 0, 0, 0], // mov eax, time
        ...[0x0f, 0x05], //         syscall
        ...[0x48, 0x85, 0xc0], //   test rax, rax
        ...[0x78, 18], //           js end
        ...[0x48, 0x8b, 0x0d, 0, 0, 0, 0], // mov rcx, [rip + distance]
        ...[0x48, 0x01, 0xc8], //   add rax, rcx
        ...[0x48, 0x85, 0xff], //   test rdi, rdi
        ...[0x74, 3], //            je end
        ...[0x48, 0x89, 0x07], //   mov [rdi], rax
        0xc3, //                    end: ret
      ],
      distanceAt: 15,
    },
  ],
]);

const aligned = (at: number): number => Math.ceil(at / 16) * 16;

/**
 * Plans how the clock of processes with this vDSO is moved, for x86-64.
 * @throws Error if a function is missing, or if there is no room behind the end of the vDSO.
 */
export function clockPatch(image: VdsoImage): ClockPatch {
  const offsetAt = aligned(image.end);
  const parts: Buffer[] = [Buffer.alloc(16)];
  const jumps: PlacedBytes[] = [];
  let at = offsetAt + 16;
  for (const [name, { code, distanceAt }] of stubs) {
    const from = image.functions.get(name);
    if (from === undefined) throw new Error(`The vDSO of this kernel has no ${name}.`);
    const part = Buffer.alloc(aligned(code.length), 0xcc);
    part.set(code);
    part.writeInt32LE(offsetAt - (at + distanceAt + 4), distanceAt);
    parts.push(part);
    if (from % wordSize !== 0)
      throw new Error(`${name} of this kernel does not begin at a multiple of ${wordSize} bytes.`);
    const jump = Buffer.from(image.bytes.subarray(from, from + wordSize));
    jump.writeUInt8(0xe9);
    jump.writeInt32LE(at - (from + jumpSize), 1);
    jumps.push({ at: from, bytes: jump });
    at += part.length;
  }
  if (at > image.bytes.length) throw new Error('There is no room for code in the vDSO of this kernel.');
  return { offsetAt, code: { at: offsetAt, bytes: Buffer.concat(parts) }, jumps };
}

/** An offset as it stands in memory. */
export function offsetBytes(seconds: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds));
  return bytes;
}
