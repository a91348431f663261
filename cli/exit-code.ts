/** What the command line ends with; stable, for pipelines. */
export const EXIT = {
  ok: 0,
  /** The stack refused something, or a live test brought nothing. */
  refused: 1,
  /** The command, its settings or a declarative file is wrong; nothing was sent. */
  usage: 2,
  /** No answer: no server, no name, no trust, no time. */
  unreachable: 3,
  /** No token, one that is not known, or one without the scope. */
  token: 4,
  /** What the files want stands already and was not made from them; nothing was changed. */
  conflict: 5,
  /** `plan --check` found something to do. */
  pending: 6,
  /** As a shell gives it for SIGINT. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command: a sentence for the person, and the code for the pipeline. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}
