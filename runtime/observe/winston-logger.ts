import winston from 'winston';
import { currentLogFields } from './log-context.ts';
import type { LogFields, Logger } from './logger.ts';
import { serializeFields } from './serialize-fields.ts';

export interface WinstonLoggerOptions {
  /** `json` for machines, `text` for terminals. */
  readonly format: 'json' | 'text';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Named in every line, as zap's `logger`. */
  readonly logger?: string;
  /** Stacks are written from this level on; `error` by default. `none` never writes them. */
  readonly stacksFrom?: 'warn' | 'error' | 'none';
  readonly stream: NodeJS.WritableStream;
  readonly now: () => Date;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * Our logger over winston, with the field names controller-runtime writes: `ts`, `level`, `logger`, `msg`, then the fields
 * of the reconcile, then those of the call. Only plain JSON that has been cleared of secrets reaches winston.
 */
export function createWinstonLogger(options: WinstonLoggerOptions): Logger {
  const print = options.format === 'json' ? jsonLine : textLine;
  const backend = winston.createLogger({
    level: options.level,
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: winston.format.printf((info) => print(info.line as Line)),
    transports: [new winston.transports.Stream({ stream: options.stream })],
  });
  return loggerOver(backend, options, {});
}

interface Line {
  readonly ts: string;
  readonly level: Level;
  readonly logger?: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function loggerOver(backend: winston.Logger, options: WinstonLoggerOptions, own: LogFields): Logger {
  const { logger, now, stacksFrom = 'error' } = options;
  const withStack: readonly Level[] =
    stacksFrom === 'none' ? [] : stacksFrom === 'warn' ? ['warn', 'error'] : ['error'];
  const write = (level: Level, msg: string, fields: LogFields = {}): void => {
    if (!backend.isLevelEnabled(level)) return;
    const { stack, ...rest } = serializeFields({ ...currentLogFields(), ...own, ...fields });
    const line: Line = {
      ts: now().toISOString(),
      level,
      ...(logger === undefined ? {} : { logger }),
      msg,
      fields: withStack.includes(level) && stack !== undefined ? { ...rest, stack } : rest,
    };
    backend.log({ level, message: '', line });
  };
  return {
    debug: (message, fields) => {
      write('debug', message, fields);
    },
    info: (message, fields) => {
      write('info', message, fields);
    },
    warn: (message, fields) => {
      write('warn', message, fields);
    },
    error: (message, fields) => {
      write('error', message, fields);
    },
    with: (fields) => loggerOver(backend, options, { ...own, ...fields }),
  };
}

/** A field cannot take the place of one of the line's own. */
function jsonLine({ fields, ...line }: Line): string {
  return JSON.stringify({ ...line, ...Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in line))) });
}

function textLine({ ts, level, logger, msg, fields }: Line): string {
  const { stack, ...rest } = fields;
  const words = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`,
  );
  const head = [
    ts,
    level.toUpperCase().padEnd(5),
    ...(logger === undefined ? [] : [logger]),
    oneLine(msg),
    ...words,
  ].join(' ');
  return typeof stack === 'string' ? `${head}\n${stack}` : head;
}

function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text);
}

/** A message cannot forge another line. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ⏎ ');
}
