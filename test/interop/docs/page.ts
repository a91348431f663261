/** What a page of the documentation shows in its fenced blocks: commands, and what they print. */

export interface ShownCommand {
  /** As a person would type it; several lines where it goes on after a backslash. */
  readonly text: string;
  /** What the page says that it prints; undefined where it shows nothing. */
  readonly shown: string | undefined;
}

/** Words that a line begins with which is to be typed, in a block that does not say so by a `$`. */
const TYPED = /^(?:[A-Z_]+=|curl |gobgpd? |npm |npx |node |api\(\) )/;

/**
 * The commands of a text in their order. In a block of ```console they follow a `$`, their output below them; in a plain one
 * each line is one, and a block of ```json after it is what the last of them prints.
 */
export function commandsIn(text: string): ShownCommand[] {
  const commands: { text: string; shown: string | undefined }[] = [];
  let mayHaveOutput = false;
  for (const [, language = '', block = ''] of text.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    if (language === 'console') {
      for (const part of block.split(/^\$ /m).slice(1)) {
        const end = part.indexOf('\n');
        commands.push({ text: part.slice(0, end), shown: part.slice(end + 1).trimEnd() });
      }
      mayHaveOutput = false;
    } else if (language === 'json' && mayHaveOutput) {
      (commands.at(-1) as { shown: string | undefined }).shown = block.trimEnd();
      mayHaveOutput = false;
    } else if ((language === '' || language === 'sh') && TYPED.test(block)) {
      const lines = block.replaceAll('\\\n', '\\\0').trimEnd().split('\n');
      for (const line of lines) commands.push({ text: line.replaceAll('\0', '\n'), shown: undefined });
      mayHaveOutput = true;
    }
  }
  return commands;
}

/** The part of a page below a heading of the second level, up to the next. */
export function sectionOf(page: string, heading: string): string {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`no section "${heading}"`);
  return section;
}

/** The first block of a language in a text. */
export function blockOf(text: string, language: string): string {
  const block = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1];
  if (block === undefined) throw new Error(`no block of ${language}`);
  return block;
}
