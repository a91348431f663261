/** A call as a step of the story makes it. */
export interface StoryStep {
  /** Unique; the example's name in the document and in the pages of docs/api. */
  readonly name: string;
  /** Method and path, as `contract/routes.ts` spells them. */
  readonly operation: string;
  /** One line on what it shows. */
  readonly title: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  /** Without a token. */
  readonly isAnonymous?: true;
  /** Asked again until this holds of the answer's body: what a worker does takes a moment. */
  readonly until?: (body: never) => boolean;
  /** Members that a quick worker may have set before the answer left: they are no part of what the answer promises. */
  readonly unsettled?: readonly string[];
  /** The example shows only how a long answer begins. */
  readonly excerpt?: 'head';
}

/** A step with the answer that it was given, placeholders in place of what no two runs share. */
export interface Example extends Omit<StoryStep, 'until' | 'unsettled'> {
  readonly contentType: string;
  /** Parsed when the content type is JSON; absent without a body. */
  readonly answer?: unknown;
  /** Those that the document describes. */
  readonly answerHeaders: Readonly<Record<string, string>>;
}
