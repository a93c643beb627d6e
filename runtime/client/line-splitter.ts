/** A line longer than allowed: the peer is broken or hostile. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

const newline = 0x0a;

/**
 * Cuts a byte stream into lines, however its chunks were cut. Lines are UTF-8 without their end; empty ones are left out.
 * Never holds more than `maxBytes` of an unfinished line: `push` throws `LineTooLongError` beyond that.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
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
      this.#hold(bytes.subarray(from, end));
      const line = this.#take();
      if (line !== '') lines.push(line);
      from = end + 1;
    }
    this.#hold(bytes.subarray(from));
    return lines;
  }

  /** The rest after the last line end; undefined when there is none. */
  end(): string | undefined {
    const line = this.#take();
    return line === '' ? undefined : line;
  }

  #hold(part: Buffer): void {
    if (this.#held + part.length > this.#maxBytes) {
      throw new LineTooLongError(`a line of the stream is longer than ${this.#maxBytes} bytes`);
    }
    if (part.length > 0) this.#parts.push(part);
    this.#held += part.length;
  }

  #take(): string {
    const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#held = 0;
    return (line ?? Buffer.alloc(0)).toString('utf8').trimEnd();
  }
}
