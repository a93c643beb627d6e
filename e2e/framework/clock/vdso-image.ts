/** Where things are in a vDSO (vdso(7)), counted in bytes from the beginning of its mapping. */
export interface VdsoImage {
  readonly bytes: Buffer;
  /** Its functions by name. */
  readonly functions: ReadonlyMap<string, number>;
  /** Only zeros follow up to the end of the mapping, which nobody reads or runs. */
  readonly end: number;
}

const dynamicSegment = 2;
const stringTable = 5n;
const symbolTable = 6n;
const symbolSize = 24;
const functionType = 2;

/**
 * Reads the ELF file of 64 bits that a vDSO is, from the bytes of its mapping. It was linked at the address 0, and its table of names follows
 * its table of symbols.
 * @throws Error for anything else.
 */
export function readVdsoImage(bytes: Buffer): VdsoImage {
  if (bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2) throw new Error('This vDSO is no ELF file of 64 bits.');
  const dynamic = dynamicEntries(bytes);
  const [symbols, names] = [Number(dynamic.get(symbolTable)), Number(dynamic.get(stringTable))];
  if (!(symbols < names)) throw new Error('The symbols of this vDSO do not precede their names.');
  const functions = new Map<string, number>();
  for (let at = symbols; at + symbolSize <= names; at += symbolSize) {
    const name = names + bytes.readUInt32LE(at);
    const isDefined = bytes.readUInt16LE(at + 6) !== 0;
    if (isDefined && (bytes.readUInt8(at + 4) & 0xf) === functionType)
      functions.set(bytes.toString('latin1', name, bytes.indexOf(0, name)), Number(bytes.readBigUInt64LE(at + 8)));
  }
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return { bytes, functions, end };
}

function dynamicEntries(bytes: Buffer): ReadonlyMap<bigint, bigint> {
  const [headers, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  const entries = new Map<bigint, bigint>();
  for (let header = headers; header < headers + count * size; header += size) {
    if (bytes.readUInt32LE(header) !== dynamicSegment) continue;
    for (let at = Number(bytes.readBigUInt64LE(header + 8)); bytes.readBigUInt64LE(at) !== 0n; at += 16)
      entries.set(bytes.readBigUInt64LE(at), bytes.readBigUInt64LE(at + 8));
  }
  return entries;
}
