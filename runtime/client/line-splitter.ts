/** A line longer than allowed: the peer is broken or hostile. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

const newline = 0x0a;
const nothing = Buffer.alloc(0);

const text = (line: Buffer): string => line.toString('utf8').trimEnd();

/**
 * Cuts a byte stream into lines, however its chunks were cut. Lines are UTF-8 without their end; empty ones are left out.
 * Never holds more than `maxBytes` of an unfinished line: `push` throws `LineTooLongError` beyond that.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  /** The unfinished line, copied: a peer that sends it byte by byte must not have every chunk kept. */
  #buffer = nothing;
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): readonly string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      const line = this.#take(bytes.subarray(from, end));
      if (line !== '') lines.push(line);
      from = end + 1;
    }
    this.#hold(bytes.subarray(from));
    return lines;
  }

  /** The rest after the last line end; undefined when there is none. */
  end(): string | undefined {
    const line = this.#take(nothing);
    return line === '' ? undefined : line;
  }

  #hold(part: Buffer): void {
    const length = this.#lengthWith(part);
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.min(Math.max(length, 2 * this.#buffer.length), this.#maxBytes));
      this.#buffer.copy(grown, 0, 0, this.#held);
      this.#buffer = grown;
    }
    part.copy(this.#buffer, this.#held);
    this.#held = length;
  }

  #take(rest: Buffer): string {
    if (this.#held === 0) {
      this.#lengthWith(rest);
      return text(rest);
    }
    this.#hold(rest);
    const line = text(this.#buffer.subarray(0, this.#held));
    this.#buffer = nothing;
    this.#held = 0;
    return line;
  }

  #lengthWith(part: Buffer): number {
    const length = this.#held + part.length;
    if (length > this.#maxBytes)
      throw new LineTooLongError(`a line of the stream is longer than ${this.#maxBytes} bytes`);
    return length;
  }
}
