/** Draws docs/bgp-fsm.md from the table: `node test/support/fsm-diagram.ts` writes it, a test holds it to the table. */
import { writeFileSync } from 'node:fs';
import { EVENT, EVENTS_NOT_OFFERED, type EventNumber, STATES, step } from '../../protocols/bgp/fsm.ts';

/** A Mermaid state diagram: one arrow from state to state with the numbers of the events that take it. */
export function stateDiagram(): string {
  const lines = ['stateDiagram-v2', '  [*] --> Idle'];
  for (const state of STATES) {
    const byNext = new Map<string, EventNumber[]>();
    for (const event of Object.values(EVENT)) {
      const { next } = step(state, event);
      if (next === state || EVENTS_NOT_OFFERED.has(event)) continue;
      byNext.set(next, [...(byNext.get(next) ?? []), event]);
    }
    for (const [next, events] of byNext) lines.push(`  ${state} --> ${next}: ${events.join(' ')}`);
  }
  return `\`\`\`mermaid\n${lines.join('\n')}\n\`\`\``;
}

function eventTable(): string {
  const rows = Object.entries(EVENT).map(([name, number]) => {
    return `| ${number} | ${name} | ${EVENTS_NOT_OFFERED.has(number) ? 'no' : 'yes'} |`;
  });
  return ['| Event | Name | Offered |', '|---|---|---|', ...rows].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  const text = `# The BGP state machine

Drawn from the table in \`protocols/bgp/fsm.ts\`, which follows RFC 4271 §8 (and RFC 9687 for Event 29). The numbers are
the events that take the arrow; events that leave the state as it is, and those that are not offered, are not drawn.
Deviations from the RFC are marked beside their cells in the table. Regenerate with \`node test/support/fsm-diagram.ts\`.

${stateDiagram()}

${eventTable()}
`;
  writeFileSync(new URL('../../docs/bgp-fsm.md', import.meta.url), text);
}
