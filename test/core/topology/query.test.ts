import { describe, expect, it } from 'vitest';
import { parseEventQuery } from '../../../core/topology/events.ts';
import { parseObjectQuery } from '../../../core/topology/query.ts';

const parameters = (text: string) => new URLSearchParams(text);

describe('a question about the topology', () => {
  it('is refused for a protocol that none is: an empty list would be taken for an empty network', () => {
    for (const protocol of ['isis-level-2', 'segment-routing', 'protocol-200']) {
      expect(parseObjectQuery(parameters(`protocol=${protocol}`)).protocol).toBe(protocol);
    }
    for (const protocol of ['isis', 'ISIS-LEVEL-2', 'protocol-2', 'protocol-256', '']) {
      expect(() => parseObjectQuery(parameters(`protocol=${protocol}`)), protocol).toThrow(
        'protocol is isis-level-1, isis-level-2, ospfv2, direct, static, ospfv3, bgp, rsvp-te, segment-routing or protocol-<n>',
      );
    }
  });

  it('is refused for a page of events after what is none: it would be taken for the last', () => {
    for (const after of ['e.1.12.345', `e.n.${'a-_'.repeat(7)}b.1795308324073`]) {
      expect(parseEventQuery(parameters(`after=${after}`)).after).toBe(after);
    }
    for (const wrong of ['junk', 'e.1.2', '']) {
      expect(() => parseEventQuery(parameters(`after=${wrong}`)), wrong).toThrow(
        'after is the id of an event',
      );
    }
  });

  it('is refused for a node or an object by anything but an id', () => {
    const id = `n.${'a-_'.repeat(7)}b`;
    expect(parseObjectQuery(parameters(`node=${id}`)).node).toBe(id);
    expect(parseEventQuery(parameters(`id=${id}`)).objectId).toBe(id);
    for (const wrong of ['r9', '10.0.0.9', `${id}c`, id.replace('n.', 'x.'), '']) {
      expect(() => parseObjectQuery(parameters(`node=${wrong}`)), wrong).toThrow('node is the id of a node');
      expect(() => parseEventQuery(parameters(`id=${wrong}`)), wrong).toThrow('id is the id of an object');
    }
  });
});
