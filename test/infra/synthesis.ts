import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { graticuleApp } from '../../infra/app.ts';
import { handlerNames } from '../../infra/bundle.ts';

export interface Synthesis {
  readonly service: Template;
  readonly state: Template;
}

/** The templates, of bundles that are empty: what is asserted of templates does not need the real ones. */
export function synthesize(context: Readonly<Record<string, string>> = {}): Synthesis {
  const folder = mkdtempSync(join(tmpdir(), 'graticule-synthesis-'));
  try {
    for (const name of handlerNames()) {
      mkdirSync(join(folder, 'bundles/functions', name), { recursive: true });
      writeFileSync(join(folder, 'bundles/functions', name, 'index.js'), `// ${name}\n`);
    }
    const { stack } = graticuleApp(join(folder, 'bundles'), {
      outdir: join(folder, 'out'),
      context: { image: 'registry.example/graticule-worker:1', ...context },
    });
    // The whole app is made here, with cdk-nag, which throws on what it finds.
    return { service: Template.fromStack(stack), state: Template.fromStack(stack.state) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A resource of a template, with its type and logical id. */
export interface TemplateResource {
  readonly id: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: templates are looked into member by member.
  readonly properties: any;
  readonly deletionPolicy: string | undefined;
}

export function resourcesOf(template: Template, type?: string): TemplateResource[] {
  return Object.entries(template.toJSON()['Resources'])
    .map(([id, resource]) => {
      const { Type, Properties, DeletionPolicy } = resource as Record<string, never>;
      return { id, type: Type, properties: Properties, deletionPolicy: DeletionPolicy };
    })
    .filter((resource) => type === undefined || resource.type === type);
}

/** One statement of an IAM policy. */
export interface Statement {
  /** The logical id of the role, without the digest at its end. */
  readonly role: string;
  readonly effect: string;
  readonly actions: readonly string[];
  /** As JSON: most are references. */
  readonly resources: readonly string[];
}

interface IamPolicy {
  readonly Type: string;
  readonly Properties: {
    readonly Roles: readonly [{ readonly Ref: string }];
    readonly PolicyDocument: { readonly Statement: readonly Record<string, unknown>[] };
  };
}

/** Every statement of every role's policy in a template's JSON. */
export function statementsOf(template: { readonly [section: string]: unknown }): Statement[] {
  return Object.values(template['Resources'] as Record<string, IamPolicy>)
    .filter((resource) => resource.Type === 'AWS::IAM::Policy')
    .flatMap(({ Properties }) =>
      Properties.PolicyDocument.Statement.map((statement) => ({
        role: Properties.Roles[0].Ref.replace(/[0-9A-F]{8}$/, ''),
        effect: String(statement['Effect']),
        actions: [statement['Action']].flat() as string[],
        resources: [statement['Resource']].flat().map((resource) => JSON.stringify(resource)),
      })),
    );
}
