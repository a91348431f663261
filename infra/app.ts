import { App, type AppProps, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { acknowledge } from './acknowledged.ts';
import { readSettings } from './settings.ts';
import { GraticuleStack } from './stack.ts';

/** Behaviour of the library that newer apps have by default. */
const FEATURE_FLAGS = {
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-ecs:disableExplicitDeploymentControllerForCircuitBreaker': true,
};

/**
 * The app with its one stack, whose functions are found in `bundles`. Its synthesis fails on a finding of cdk-nag that
 * `acknowledged.ts` does not have. Throws when a setting cannot be used.
 */
export function graticuleApp(bundles: string, props: AppProps = {}): { app: App; stack: GraticuleStack } {
  const app = new App({
    ...props,
    analyticsReporting: false,
    context: { ...FEATURE_FLAGS, ...props.context },
  });
  const stack = new GraticuleStack(
    app,
    readSettings((name) => app.node.tryGetContext(name)),
    bundles,
  );
  acknowledge(stack);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { app, stack };
}
