import { describe, expect, it } from 'vitest';
import { formatPath, joinPaths, parsePath, ROOT_PATH, withoutModule } from '../../../protocols/gnmi/path.ts';
import { Chance, seedOfRun } from './random-message.ts';

const problemsOf = (text: string) => parsePath(text).problems.map((problem) => problem.code);

describe('parsePath', () => {
  it('reads elements, keys and the origin', () => {
    expect(parsePath('openconfig:/interfaces/interface[name=eth0]/state')).toEqual({
      path: {
        origin: 'openconfig',
        target: '',
        elem: [
          { name: 'interfaces', keys: [] },
          { name: 'interface', keys: [['name', 'eth0']] },
          { name: 'state', keys: [] },
        ],
      },
      problems: [],
    });
  });

  it('takes a module prefix for part of the name, not for an origin', () => {
    const { path, problems } = parsePath('huawei-ifm:ifm/interfaces');
    expect(path?.elem.map((elem) => elem.name)).toEqual(['huawei-ifm:ifm', 'interfaces']);
    expect(path?.origin).toBe('');
    expect(problems.map((problem) => problem.code)).toEqual(['no-leading-slash']);
    expect(withoutModule('huawei-ifm:ifm')).toBe('ifm');
  });

  it.each([
    ['/a[name=FourHundredGigE0/2/0/3]', 'FourHundredGigE0/2/0/3'],
    ['/a[name=192.168.170.170/32]', '192.168.170.170/32'],
    ['/a[name=xe-0/0/0:0]', 'xe-0/0/0:0'],
    ['/a[name=fe80::1]', 'fe80::1'],
    ['/a[name=[]', '['],
    ['/a[name=\\]]', ']'],
    ['/a[name=[\\\\\\]]', '[\\]'],
    ['/a[name=a=b]', 'a=b'],
    ['/a[name=line\\nend]', 'line\nend'],
    ['/a[name=\\u00e9]', 'é'],
    ['/a[name=*]', '*'],
  ])('keeps what stands between brackets whole: %s', (text, value) => {
    expect(parsePath(text).path?.elem[0]?.keys).toEqual([['name', value]]);
  });

  it('sorts keys by name, so that one path has one text', () => {
    const { path } = parsePath('/protocol[name=BGP][identifier=BGP]');
    expect(path && formatPath(path)).toBe('/protocol[identifier=BGP][name=BGP]');
  });

  it('reads "/" as the root', () => {
    expect(parsePath('/').path).toEqual(ROOT_PATH);
    expect(formatPath(ROOT_PATH)).toBe('/');
  });

  it.each([
    ['/a[name=eth0', ['unbalanced-brackets']],
    ['/a]', ['unbalanced-brackets']],
    ['/a[name=eth0]]/b', ['unbalanced-brackets']],
    ['/a[name]', ['unparsable']],
    ['/a[=x]', ['unparsable']],
    ['/a[k=1][k=2]', ['unparsable']],
    ['/a[k=1]b', ['unparsable']],
    ['/a//b', ['unparsable']],
    ['/a/', ['unparsable']],
    ['', ['unparsable']],
    ['a/b', ['no-leading-slash']],
    ['/a[name=]', ['empty-key']],
  ])('says what is wrong with %j', (text, codes) => {
    expect(problemsOf(text)).toEqual(codes);
  });

  it('gives back every path that formatPath writes', () => {
    const seed = seedOfRun();
    console.log(`GRATICULE_SEED=${seed}`);
    const chance = new Chance(seed);
    const alphabet = ['a', 'B', '-', '_', '/', '[', ']', '=', '\\', '*', ':', 'n', 'u', '1', 'é', '\n', '\r'];
    const text = (least: number) =>
      Array.from({ length: least + chance.below(6) }, () => chance.pick(alphabet)).join('');
    const safeName = () => `x${text(0).replace(/[:\n\r]/g, '')}`;
    for (let round = 0; round < 1_000; round += 1) {
      const path = {
        origin: chance.maybe(3) ? 'openconfig' : '',
        target: '',
        elem: Array.from({ length: chance.below(4) }, () => ({
          name: safeName(),
          keys: chance.maybe(2) ? [['k', text(1)] as const, ['l', text(1)] as const] : [],
        })),
      };
      expect(parsePath(formatPath(path)).path, formatPath(path)).toEqual(path);
    }
  });
});

describe('joinPaths', () => {
  it('puts the prefix before the path and takes the origin from wherever it stands', () => {
    const prefix = { ...ROOT_PATH, target: 'leaf1', elem: [{ name: 'a', keys: [] }] };
    const path = { ...ROOT_PATH, origin: 'openconfig', elem: [{ name: 'b', keys: [] }] };
    expect(joinPaths(prefix, path)).toEqual({
      origin: 'openconfig',
      target: 'leaf1',
      elem: [
        { name: 'a', keys: [] },
        { name: 'b', keys: [] },
      ],
    });
  });
});
