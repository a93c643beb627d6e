/** A symbol of the file. */
export interface SmallSymbol {
  readonly name: string;
  readonly at: number;
  /** 2 for a function. */
  readonly type: number;
  readonly isUndefined?: boolean;
}

const size = 0x1000;

/** An ELF file with these symbols and nothing else, as a vDSO is mapped: code up to 0x2a0, then zeros. */
export function elfWith(symbols: readonly SmallSymbol[]): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.fill(0x90, 0x200, 0x2a0);
  bytes.writeUInt32BE(0x7f454c46);
  bytes.writeUInt8(2, 4);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt32LE(2, 64);
  bytes.writeBigUInt64LE(128n, 64 + 8);
  const [symbolsAt, namesAt] = [0xb0, 0xb0 + symbols.length * 24];
  const dynamic = [6, symbolsAt, 5, namesAt];
  for (const [index, value] of dynamic.entries()) bytes.writeBigUInt64LE(BigInt(value), 128 + index * 8);
  let name = namesAt + 1;
  for (const [index, symbol] of symbols.entries()) {
    const at = symbolsAt + index * 24;
    bytes.writeUInt32LE(name - namesAt, at);
    bytes.writeUInt8(symbol.type, at + 4);
    bytes.writeUInt16LE(symbol.isUndefined === true ? 0 : 12, at + 6);
    bytes.writeBigUInt64LE(BigInt(symbol.at), at + 8);
    bytes.write(`${symbol.name}\0`, name, 'latin1');
    name += symbol.name.length + 1;
  }
  return bytes;
}
