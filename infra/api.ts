import { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { LIMITS } from '../contract/limits.ts';
import { type ApiFunction, DEFAULT_FUNCTION, PREFIXES } from '../contract/routes.ts';
import { SIZES } from '../contract/sizes.ts';
import { RuntimeFunction } from './runtime-function.ts';

/** What is kept of each request; never its headers, which hold the token. */
const ACCESS_LOG = {
  time: '$context.requestTime',
  'request-id': '$context.requestId',
  'source-address': '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  'route-key': '$context.routeKey',
  status: '$context.status',
  'response-bytes': '$context.responseLength',
  'latency-ms': '$context.responseLatency',
  'integration-latency-ms': '$context.integrationLatency',
  'integration-error': '$context.integrationErrorMessage',
};

/** The HTTP API and the functions behind it: each function gets its prefix and all below it, one gets the rest. */
export class Api extends Construct {
  readonly functions: Readonly<Record<ApiFunction, RuntimeFunction>>;
  readonly httpApi: HttpApi;
  readonly url: string;

  constructor(scope: Construct, id: string, options: { readonly bundles: string }) {
    super(scope, id);
    const names = Object.keys(SIZES.apiFunctionMegabytes) as ApiFunction[];
    this.functions = Object.fromEntries(
      names.map((name) => [
        name,
        new RuntimeFunction(this, pascalCase(name), {
          principal: name,
          bundles: options.bundles,
          memoryMegabytes: SIZES.apiFunctionMegabytes[name],
          timeoutSeconds: LIMITS.gatewayTimeoutMilliseconds / 1_000,
        }),
      ]),
    ) as Record<ApiFunction, RuntimeFunction>;

    const integrations = Object.fromEntries(
      names.map((name) => [
        name,
        new HttpLambdaIntegration(`${pascalCase(name)}Integration`, this.functions[name].lambda),
      ]),
    ) as Record<ApiFunction, HttpLambdaIntegration>;
    this.httpApi = new HttpApi(this, 'HttpApi', {
      description: 'Graticule',
      createDefaultStage: false,
      // Tokens are checked in the functions, whose answers can carry our own bodies; so every route is open here.
      defaultAuthorizer: new HttpNoneAuthorizer(),
      defaultIntegration: integrations[DEFAULT_FUNCTION],
    });
    for (const { prefix, function: name } of PREFIXES) {
      for (const path of [prefix, `${prefix}/{proxy+}`]) {
        this.httpApi.addRoutes({ path, methods: [HttpMethod.ANY], integration: integrations[name] });
      }
    }
    const accessLog = new LogGroup(this, 'AccessLog', {
      retention: SIZES.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.httpApi,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: SIZES.requestsPerSecond, burstLimit: SIZES.requestBurst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    this.url = stage.url;
  }
}

function pascalCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_match, _hyphen, letter: string) => letter.toUpperCase());
}
