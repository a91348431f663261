import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type Action, GRANTS, type Principal, type Resource } from '../contract/grants.ts';

/** Something that runs our code: a Lambda function or the worker's container. */
export interface Runtime {
  readonly principal: Principal;
  readonly role: IRole;
  setEnvironment(name: string, value: string): void;
}

/** One thing that our code may call, with what the code needs to know to find it. */
export interface GrantedResource {
  readonly resource: Resource;
  readonly environment: Readonly<Record<string, string>>;
  /** The ARN that IAM asks each action for. */
  arnFor(action: Action): string;
}

/**
 * Permission and configuration in one step: what the principal's row in `contract/grants.ts` has for the resource, and the
 * variables that name it. A principal without a row gets neither.
 */
export function grant(runtime: Runtime, granted: GrantedResource): void {
  const actions = GRANTS[runtime.principal][granted.resource];
  if (actions === undefined) return;
  for (const [arn, group] of Map.groupBy(actions, (action) => granted.arnFor(action))) {
    runtime.role.addToPrincipalPolicy(new PolicyStatement({ actions: group, resources: [arn] }));
  }
  for (const [name, value] of Object.entries(granted.environment)) runtime.setEnvironment(name, value);
}
