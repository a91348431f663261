/**
 * A session's inputs as lines of JSON, so that what a peer did in the field becomes a fixture: replayed, the same
 * session does the same again. The first line holds the settings, each other one an input with its time and the random
 * numbers that it used up. Passwords are replaced by a mark that only tells one from another.
 */
import { formatHex } from './octet-writer.ts';
import type { PeerSettings } from './peer-settings.ts';
import { Session } from './session.ts';
import type { Instant, SessionEffect } from './session-effect.ts';
import { applyInput, type SessionInput } from './session-input.ts';

const VERSION = 1;

export interface RecordedInput {
  readonly input: SessionInput;
  readonly now: Instant;
  readonly random: readonly number[];
}

export interface Recording {
  readonly settings: PeerSettings;
  readonly inputs: readonly RecordedInput[];
}

/** Writes lines; gives each password its mark, the same one each time it comes. */
export class RecordingFormatter {
  readonly #marks = new Map<string, string>([['', '']]);

  header(settings: PeerSettings): string {
    return `${JSON.stringify({ v: VERSION, settings: this.#masked(settings) })}\n`;
  }

  line({ input, now, random }: RecordedInput): string {
    const shown = input.kind === 'update' ? { ...input, settings: this.#masked(input.settings) } : input;
    return `${JSON.stringify({ at: now.wall, clock: now.monotonic, random, input: shown }, hexOctets)}\n`;
  }

  #masked(settings: PeerSettings): PeerSettings {
    const mark = this.#marks.get(settings.password) ?? `password-${this.#marks.size}`;
    this.#marks.set(settings.password, mark);
    return { ...settings, password: mark };
  }
}

/** Reads a recording back. A last line that was cut by a crash is left out; anything else that is odd is an error. */
export function parseRecording(text: string): Recording {
  const lines = text.split('\n').filter((line) => line !== '');
  if (!text.endsWith('\n')) lines.pop();
  const [first, ...rest] = lines.map((line) => JSON.parse(line, fromHexOctets));
  if (first?.v !== VERSION) throw new Error(`a recording of version ${first?.v}, where ${VERSION} is known`);
  return {
    settings: first.settings,
    inputs: rest.map(({ at, clock, random, input }) => ({
      now: { wall: at, monotonic: clock },
      random,
      input,
    })),
  };
}

/** Does again what was recorded, and gives each input's effects to `observe`. */
export function replay(
  recording: Recording,
  observe: (recorded: RecordedInput, effects: readonly SessionEffect[]) => void = () => {},
): Session {
  let random: readonly number[] = [];
  let used = 0;
  const session = new Session(recording.settings, () => random[used++] ?? 0, {
    tcpMd5: true,
    ttlSecurity: true,
  });
  for (const recorded of recording.inputs) {
    random = recorded.random;
    used = 0;
    // The driver had the session number the connection before it handed it over.
    if (recorded.input.kind === 'accept') session.nextConnection();
    observe(recorded, applyInput(session, recorded.input, recorded.now).effects);
  }
  return session;
}

/** Looks at the member itself: a Buffer has turned into something else by the time a replacer is given it. */
function hexOctets(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const member = this[key];
  return member instanceof Uint8Array ? { hex: formatHex(member) } : value;
}

function fromHexOctets(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('hex' in value)) return value;
  const { hex } = value;
  if (typeof hex !== 'string' || Object.keys(value).length !== 1) return value;
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}
